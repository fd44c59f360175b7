// Apache Thrift's compact protocol, as far as the headers of Parquet pages need it: numbers, flags and structs by the number
// of their field; texts, doubles and lists are passed over.
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md

const STOP = 0;
const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I16 = 4;
const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const SET = 10;
const STRUCT = 12;

const DEEPEST = 16; // structs in structs; a page header has 3

export interface ThriftStruct {
  [field: number]: number | boolean | ThriftStruct | undefined;
}

/** Reads bytes in order and throws at their end; a number in 7-bit groups is at most 10 bytes long. */
export class ThriftReader {
  constructor(
    private readonly bytes: Uint8Array,
    public at: number,
    private readonly end: number,
  ) {}

  struct(depth = 0): ThriftStruct {
    if (depth > DEEPEST) throw new Error("structs in structs, too deep");
    const fields: ThriftStruct = {};
    for (let field = 0; ; ) {
      const head = this.byte();
      const type = head & 15;
      if (type === STOP) return fields;
      field = head >> 4 ? field + (head >> 4) : this.signed();
      fields[field] = this.value(type, depth);
    }
  }

  private value(type: number, depth: number): ThriftStruct[number] {
    if (type === TRUE) return true;
    if (type === FALSE) return false;
    if (type === BYTE) return (this.byte() << 24) >> 24;
    if (type >= I16 && type <= I64) return this.signed();
    if (type === STRUCT) return this.struct(depth + 1);
    if (type === DOUBLE) this.skip(8);
    else if (type === BINARY) this.skip(this.unsigned());
    else if (type === LIST || type === SET) this.list(depth);
    else throw new Error(`type ${type}, which page headers do not have`);
    return undefined;
  }

  private list(depth: number): void {
    const head = this.byte();
    const count = head >> 4 === 15 ? this.unsigned() : head >> 4;
    const type = head & 15;
    for (let i = 0; i < count; i++) {
      if (type === TRUE || type === FALSE) this.byte();
      else this.value(type, depth + 1);
      if (this.at >= this.end) break; // nothing can follow, however long the list says it is
    }
  }

  private skip(count: number): void {
    if (count > this.end - this.at) throw new Error(`${count} bytes of a text where ${this.end - this.at} are left`);
    this.at += count;
  }

  private byte(): number {
    if (this.at >= this.end) throw new Error("the bytes end in the middle of a header");
    return this.bytes[this.at++];
  }

  unsigned(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 70; factor *= 128) {
      const byte = this.byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
    throw new Error("a number of more than 10 bytes");
  }

  private signed(): number {
    const folded = this.unsigned();
    return folded % 2 === 0 ? folded / 2 : -(folded + 1) / 2;
  }
}
