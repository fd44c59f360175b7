// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), as much as reading weights needs.
import { UserError } from "#base";

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

interface Field {
  number: number;
  wire: number;
  at: number; // of its value, in bytes of the file
  value: number; // of a varint; of the others their length
}

/** A message inside a file: its fields by number. Nothing is copied, so a file that lies costs no memory. */
export class Message {
  private readonly fields = new Map<number, Field[]>();
  private readonly view: DataView;

  constructor(
    private readonly bytes: Uint8Array,
    readonly file: string,
    readonly name: string, // for messages to people
    readonly at = 0,
    private readonly end = bytes.length,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let next = at; next < end; ) {
      const [tag, from] = this.varint(next);
      const field = this.field(tag, from, next);
      const same = this.fields.get(field.number);
      if (same) same.push(field);
      else this.fields.set(field.number, [field]);
      next = field.wire === WIRE.varint ? this.varint(from)[1] : field.at + field.value;
    }
  }

  has(number: number): boolean {
    return this.fields.has(number);
  }

  /** A whole number; undefined if it is not there. */
  integer(number: number): number | undefined {
    return this.last(number, WIRE.varint)?.value;
  }

  fixed32(number: number): number | undefined {
    const field = this.last(number, WIRE.fixed32);
    return field && this.view.getUint32(field.at, true);
  }

  float(number: number): number | undefined {
    const field = this.last(number, WIRE.fixed32);
    return field && this.view.getFloat32(field.at, true);
  }

  /** A view of the file. */
  data(number: number): { at: number; bytes: Uint8Array } | undefined {
    const field = this.last(number, WIRE.bytes);
    return field && { at: field.at, bytes: this.bytes.subarray(field.at, field.at + field.value) };
  }

  text(number: number): string | undefined {
    const data = this.data(number);
    return data && new TextDecoder().decode(data.bytes);
  }

  message(number: number, name: string): Message | undefined {
    const field = this.last(number, WIRE.bytes);
    return field && this.inside(field, name);
  }

  messages(number: number, name: (index: number) => string): Message[] {
    return (this.fields.get(number) ?? []).map((field, i) => this.inside(this.of(field, WIRE.bytes), name(i)));
  }

  fail(at: number, what: string): UserError {
    return new UserError(
      "LC0_CORRUPT",
      `${this.file}: byte ${at} (unpacked), in the ${this.name}: ${what}. The file is damaged; fetch it again.`,
    );
  }

  private inside({ at, value }: Field, name: string): Message {
    return new Message(this.bytes, this.file, name, at, at + value);
  }

  private last(number: number, wire: number): Field | undefined {
    const field = this.fields.get(number)?.at(-1); // as the format wants it
    return field && this.of(field, wire);
  }

  private of(field: Field, wire: number): Field {
    if (field.wire === wire) return field;
    throw this.fail(field.at, `field ${field.number} is of wire type ${field.wire}, expected ${wire}`);
  }

  private field(tag: number, from: number, start: number): Field {
    const [number, wire] = [Math.floor(tag / 8), tag % 8];
    if (wire === WIRE.varint) return { number, wire, at: from, value: this.varint(from)[0] };
    let [value, at] = [wire === WIRE.fixed64 ? 8 : 4, from];
    if (wire === WIRE.bytes) [value, at] = this.varint(from);
    else if (wire !== WIRE.fixed64 && wire !== WIRE.fixed32) throw this.fail(start, `there is no wire type ${wire}`);
    if (value > this.end - at) {
      throw this.fail(start, `field ${number} wants ${value} bytes, and ${this.end - at} are left`);
    }
    return { number, wire, at, value };
  }

  /** The number at an offset, and where it ends. Beyond 2^53 it is not exact, which no length or name of ours reaches. */
  private varint(at: number): [value: number, end: number] {
    let value = 0;
    for (let i = 0; i < 10; i++) {
      if (at + i >= this.end) throw this.fail(at, "it ends in the middle of a number");
      const byte = this.bytes[at + i];
      value += (byte & 127) * 2 ** (7 * i);
      if (byte < 128) return [value, at + i + 1];
    }
    throw this.fail(at, "a number is longer than 10 bytes");
  }
}
