import { concatBytes } from "./bytes.js";
import { UserError } from "./errors.js";

// bzip2, as its author's decoder reads it: blocks of up to 900,000 bytes, each Huffman-coded after a move-to-front and a
// Burrows-Wheeler transform, with checksums. A block is decoded once all of it is in memory.

const BLOCK_MAGIC = 0x314159265359;
const END_MAGIC = 0x177245385090;
// 900,000 symbols and an end mark of at most 20 bits each, 18,002 selectors of up to 6 bits, tables
const LARGEST_BLOCK = 2_300_000;

const CRC_TABLE = new Uint32Array(256).map((_, i) => {
  let crc = i << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});

class Cut extends Error {}

/** Bits, the highest of each byte first, over bytes that come in pieces. */
class BitReader {
  private bytes = new Uint8Array(0);
  private at = 0;
  private held = 0; // the lowest `count` bits are still to be given out
  private count = 0;

  get left(): number {
    return this.bytes.length - this.at;
  }

  append(chunk: Uint8Array): void {
    const joined = new Uint8Array(this.left + chunk.length);
    joined.set(this.bytes.subarray(this.at));
    joined.set(chunk, this.left);
    this.bytes = joined;
    this.at = 0;
  }

  /** At most 24 bits. */
  bits(n: number): number {
    while (this.count < n) {
      if (this.at >= this.bytes.length) throw new Cut();
      this.held = (this.held << 8) | this.bytes[this.at++];
      this.count += 8;
    }
    this.count -= n;
    return (this.held >>> this.count) & ((1 << n) - 1);
  }

  /** The next 20 bits without taking them; zeros stand for what is beyond the end. */
  peek20(): number {
    while (this.count < 20 && this.at < this.bytes.length) {
      this.held = (this.held << 8) | this.bytes[this.at++];
      this.count += 8;
    }
    const word = this.count >= 20 ? this.held >>> (this.count - 20) : this.held << (20 - this.count);
    return word & 0xfffff;
  }

  /** Takes bits that were seen by `peek20`. */
  skip(n: number): void {
    if (n > this.count) throw new Cut();
    this.count -= n;
  }

  bits48(): number {
    return this.bits(24) * 0x1000000 + this.bits(24);
  }

  align(): void {
    this.count -= this.count % 8;
  }
}

const SHORT = 10; // bits of code words found at once

/** A Huffman code as the limits and bases of each length. */
interface Code {
  short: Uint16Array; // by the next SHORT bits: symbol << 4 | length; 0 if the word is longer
  limit: Int32Array; // largest code word of a length, -1 if none
  base: Int32Array;
  symbols: Uint16Array;
}

function makeCode(lengths: Uint8Array): Code {
  const limit = new Int32Array(21).fill(-1);
  const base = new Int32Array(21);
  const symbols = new Uint16Array(lengths.length);
  const short = new Uint16Array(1 << SHORT);
  let word = 0;
  let found = 0;
  for (let length = 1; length <= 20; length++) {
    base[length] = found - word;
    for (let symbol = 0; symbol < lengths.length; symbol++) {
      if (lengths[symbol] !== length) continue;
      symbols[found++] = symbol;
      const shift = SHORT - length;
      if (shift >= 0) short.fill((symbol << 4) | length, word << shift, (word + 1) << shift);
      word++;
    }
    if (found > 0) limit[length] = word - 1;
    word <<= 1;
  }
  return { short, limit, base, symbols };
}

function readSymbol(reader: BitReader, { short, limit, base, symbols }: Code): number {
  const next = reader.peek20();
  const known = short[next >> (20 - SHORT)];
  if (known !== 0) {
    reader.skip(known & 15);
    return known >> 4;
  }
  for (let length = SHORT + 1; length <= 20; length++) {
    const word = next >> (20 - length);
    if (word > limit[length]) continue;
    reader.skip(length);
    return symbols[base[length] + word];
  }
  throw new Error("a code word that is in no table");
}

function readCodes(reader: BitReader, symbols: number): { codes: Code[]; selectors: Uint8Array } {
  const groups = reader.bits(3);
  const count = reader.bits(15);
  if (groups < 2 || groups > 6 || count === 0) throw new Error("impossible table counts");
  const front = Array.from({ length: groups }, (_, i) => i);
  const selectors = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    let j = 0;
    while (reader.bits(1)) if (++j >= groups) throw new Error("a selector without a table");
    const [chosen] = front.splice(j, 1);
    front.unshift(chosen);
    selectors[i] = chosen;
  }
  const codes = Array.from({ length: groups }, () => {
    const lengths = new Uint8Array(symbols);
    let length = reader.bits(5);
    for (let i = 0; i < symbols; i++) {
      while (reader.bits(1)) length += reader.bits(1) ? -1 : 1;
      if (length < 1 || length > 20) throw new Error("an impossible code length");
      lengths[i] = length;
    }
    return makeCode(lengths);
  });
  return { codes, selectors };
}

/** Reads the bytes each symbol may stand for, in the order move-to-front starts from. */
function readAlphabet(reader: BitReader): number[] {
  const rows = reader.bits(16);
  const alphabet: number[] = [];
  for (let row = 0; row < 16; row++) {
    if (!(rows & (0x8000 >> row))) continue;
    const columns = reader.bits(16);
    for (let column = 0; column < 16; column++) if (columns & (0x8000 >> column)) alphabet.push(row * 16 + column);
  }
  if (alphabet.length === 0) throw new Error("a block without bytes");
  return alphabet;
}

/** The transformed block: fills `block` with byte values, and `counts`; returns the length. */
function readTransformed(reader: BitReader, block: Uint32Array, counts: Uint32Array): number {
  const front = readAlphabet(reader);
  const end = front.length + 1;
  const { codes, selectors } = readCodes(reader, front.length + 2);
  let length = 0;
  let run = 0;
  let weight = 1;
  for (let i = 0; ; i++) {
    const group = (i / 50) | 0;
    if (group >= selectors.length) throw new Error("more symbols than tables");
    const symbol = readSymbol(reader, codes[selectors[group]]);
    if (symbol < 2) {
      run += weight << symbol; // a run of the front byte, in bijective base 2
      weight <<= 1;
      if (run > block.length) throw new Error("a run longer than the block");
      continue;
    }
    if (run > 0) {
      if (length + run > block.length) throw new Error("more bytes than the block may hold");
      block.fill(front[0], length, length + run);
      counts[front[0]] += run;
      length += run;
      run = 0;
      weight = 1;
    }
    if (symbol === end) return length;
    if (length >= block.length) throw new Error("more bytes than the block may hold");
    const value = front[symbol - 1];
    front.copyWithin(1, 0, symbol - 1);
    front[0] = value;
    block[length++] = value;
    counts[value]++;
  }
}

/** One block after its magic number, whole; checks its sum. */
function readBlock(reader: BitReader, block: Uint32Array): Uint8Array {
  const expected = ((reader.bits(16) << 16) | reader.bits(16)) >>> 0;
  if (reader.bits(1)) throw new Error("a randomised block, which bzip2 has not written since 1997");
  const origin = reader.bits(24);
  const counts = new Uint32Array(256);
  const length = readTransformed(reader, block, counts);
  if (origin >= length) throw new Error("a block that starts outside itself");

  // The inverse transform: the upper 24 bits of a cell lead to the next cell.
  for (let i = 0, sum = 0; i < 256; i++) {
    const count = counts[i];
    counts[i] = sum;
    sum += count;
  }
  for (let i = 0; i < length; i++) block[counts[block[i] & 0xff]++] |= i << 8;

  // Four equal bytes are followed by how many more there are.
  let out = new Uint8Array(length + (length >> 2) + 256);
  let size = 0;
  let crc = -1;
  let cell = block[origin] >>> 8;
  let repeats = 0;
  let last = -1;
  for (let i = 0; i < length; i++) {
    const value = block[cell] & 0xff;
    cell = block[cell] >>> 8;
    if (size + 256 > out.length) {
      const wider = new Uint8Array(out.length * 2);
      wider.set(out);
      out = wider;
    }
    if (repeats === 4) {
      for (let j = 0; j < value; j++) {
        out[size++] = last;
        crc = (crc << 8) ^ CRC_TABLE[(crc >>> 24) ^ last];
      }
      repeats = 0;
      last = -1;
      continue;
    }
    repeats = value === last ? repeats + 1 : 1;
    last = value;
    out[size++] = value;
    crc = (crc << 8) ^ CRC_TABLE[(crc >>> 24) ^ value];
  }
  if (~crc >>> 0 !== expected) throw new Error("a wrong checksum");
  return out.subarray(0, size);
}

/** Decompresses bzip2, also several files written after one another; `name` is for messages. */
export async function* bunzip2(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const reader = new BitReader();
  const input = bytes[Symbol.asyncIterator]();
  let ended = false;
  const fill = async (wanted: number) => {
    const chunks: Uint8Array[] = [];
    for (let have = reader.left; have < wanted && !ended; ) {
      const { value, done } = await input.next();
      if (done) ended = true;
      else {
        chunks.push(value);
        have += value.length;
      }
    }
    if (chunks.length > 0) reader.append(concatBytes(chunks));
  };
  let decoded = 0;
  try {
    for (await fill(4); reader.left > 0; await fill(4)) {
      if (reader.bits(24) !== 0x425a68) {
        if (decoded > 0) return; // padding after the last file
        throw new Error("no bzip2 header");
      }
      const level = reader.bits(8) - 48;
      if (level < 1 || level > 9) throw new Error("a wrong block size");
      const block = new Uint32Array(level * 100_000);
      for (;;) {
        await fill(LARGEST_BLOCK);
        const magic = reader.bits48();
        if (magic === END_MAGIC) break;
        if (magic !== BLOCK_MAGIC) throw new Error("neither a block nor the end");
        const out = readBlock(reader, block);
        decoded += out.length;
        yield out;
      }
      reader.bits(24); // the sum over all blocks adds nothing to the sums of each
      reader.bits(8);
      reader.align();
    }
  } catch (error) {
    if (error instanceof UserError) throw error;
    if (error instanceof Cut) {
      throw new UserError(
        "FILE_TRUNCATED",
        `${name}: the compressed file ends too early, after ${decoded} bytes of content. Copy or download it again.`,
      );
    }
    throw new UserError(
      "FILE_CORRUPT",
      `${name}: damaged bzip2 data after ${decoded} bytes of content (${(error as Error).message}).`,
    );
  } finally {
    await input.return?.();
  }
}
