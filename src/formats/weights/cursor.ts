import { UserError } from "#base";

const LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Reads little-endian numbers off bytes, in order, and says file and byte if there are too few. */
export class Cursor {
  at = 0;
  private readonly view: DataView;

  constructor(
    private readonly bytes: Uint8Array,
    readonly file: string,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  u32(what: string): number {
    return this.view.getUint32(this.take(4, what), true);
  }

  /** Looks at a number further on without moving; undefined beyond the end. */
  peek(ahead: number): number | undefined {
    const at = this.at + ahead;
    return at + 4 <= this.bytes.length ? this.view.getUint32(at, true) : undefined;
  }

  text(length: number, what: string): string {
    const at = this.take(length, what);
    return new TextDecoder().decode(this.bytes.subarray(at, at + length));
  }

  i8(count: number, what: string): Int8Array {
    return new Int8Array(this.copy(count, what));
  }

  i16(count: number, what: string): Int16Array {
    return new Int16Array(swap(this.copy(count * 2, what), 2));
  }

  i32(count: number, what: string): Int32Array {
    return new Int32Array(swap(this.copy(count * 4, what), 4));
  }

  /** The network must end with its file. */
  end(): void {
    if (this.left === 0) return;
    throw new UserError(
      "NNUE_LENGTH",
      `${this.file}: the network ends at byte ${this.at}, but ${this.left} bytes follow. The file is damaged or of another kind.`,
    );
  }

  private copy(bytes: number, what: string): ArrayBuffer {
    const at = this.take(bytes, what);
    return new Uint8Array(this.bytes.subarray(at, at + bytes)).buffer; // not `slice`: of a Buffer it is no copy
  }

  private take(bytes: number, what: string): number {
    const at = this.at;
    if (bytes > this.left) {
      throw new UserError(
        "NNUE_LENGTH",
        `${this.file}: the file ends in the middle of the ${what}: ${bytes} bytes expected from byte ${at}, ${this.left} found. It was cut off; fetch it again.`,
      );
    }
    this.at += bytes;
    return at;
  }
}

/** The bytes of the arrays one after another, little-endian. */
export function joinLittle(parts: readonly (Uint8Array | Int8Array | Int16Array | Int32Array)[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    const raw = part.slice().buffer as ArrayBuffer;
    joined.set(new Uint8Array(swap(raw, part.BYTES_PER_ELEMENT)), at);
    at += part.byteLength;
  }
  return joined;
}

export const u32 = (...values: number[]): Uint8Array => {
  const view = new DataView(new ArrayBuffer(values.length * 4));
  values.forEach((value, i) => {
    view.setUint32(i * 4, value, true);
  });
  return new Uint8Array(view.buffer);
};

/** Turns the bytes of each number around on the few machines that are not little-endian. */
function swap(raw: ArrayBuffer, size: number): ArrayBuffer {
  if (LITTLE || size === 1) return raw;
  const bytes = new Uint8Array(raw);
  for (let i = 0; i < bytes.length; i += size) bytes.subarray(i, i + size).reverse();
  return raw;
}
