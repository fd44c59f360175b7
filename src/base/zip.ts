import { UserError } from "./errors.js";
import type { RandomBytes } from "./platform.js";

// The parts of the .zip format that archives of text files use (PKWARE's APPNOTE, 4.3 and 4.5): the central directory
// with its 64-bit extension, members stored or deflated. No encryption, no splitting over several files.

interface ZipEntry {
  name: string;
  size: number;
  compressedSize: number;
  stored: boolean; // not compressed
  pieces(file: RandomBytes): AsyncGenerator<Uint8Array>;
}

const END = 0x06054b50;
const END64 = 0x06064b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const PIECE = 1 << 18;

const view = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The directory of a .zip, folders left out. */
export function readZip(path: string, file: RandomBytes): ZipEntry[] {
  const damaged = (what: string) =>
    new UserError("FILE_CORRUPT", `${path}: not a whole .zip file (${what}). Copy or download it again.`);
  const tailLength = Math.min(file.size, 22 + 65535);
  const tailStart = file.size - tailLength;
  const tail = view(file.read(tailStart, tailLength));
  let end = tailLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== END) end--;
  if (end < 0) throw damaged("its directory is missing");
  let count = tail.getUint16(end + 10, true);
  let length = tail.getUint32(end + 12, true);
  let start = tail.getUint32(end + 16, true);
  if (start === 0xffffffff || count === 0xffff) {
    if (end < 20) throw damaged("its 64-bit directory is missing");
    const at = Number(tail.getBigUint64(end - 20 + 8, true));
    if (at + 56 > file.size) throw damaged("its 64-bit directory lies outside");
    const end64 = view(file.read(at, 56));
    if (end64.getUint32(0, true) !== END64) throw damaged("its 64-bit directory is missing");
    count = Number(end64.getBigUint64(32, true));
    length = Number(end64.getBigUint64(40, true));
    start = Number(end64.getBigUint64(48, true));
  }
  if (start + length > file.size) throw damaged("its directory lies outside");

  const bytes = file.read(start, length);
  const directory = view(bytes);
  const entries: ZipEntry[] = [];
  for (let i = 0, at = 0; i < count; i++) {
    if (at + 46 > length || directory.getUint32(at, true) !== ENTRY) throw damaged("its directory is cut off");
    const flags = directory.getUint16(at + 8, true);
    const method = directory.getUint16(at + 10, true);
    let compressedSize = directory.getUint32(at + 20, true);
    let size = directory.getUint32(at + 24, true);
    const nameLength = directory.getUint16(at + 28, true);
    const extraLength = directory.getUint16(at + 30, true);
    let offset = directory.getUint32(at + 42, true);
    const name = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength));
    const extraEnd = Math.min(at + 46 + nameLength + extraLength, length);
    for (let e = at + 46 + nameLength; e + 4 <= extraEnd; e += 4 + directory.getUint16(e + 2, true)) {
      if (directory.getUint16(e, true) !== 1) continue;
      let field = e + 4; // holds, in this order, what did not fit into 32 bits
      const next = () => Number(directory.getBigUint64((field += 8) - 8, true));
      if (size === 0xffffffff) size = next();
      if (compressedSize === 0xffffffff) compressedSize = next();
      if (offset === 0xffffffff) offset = next();
    }
    at += 46 + nameLength + extraLength + directory.getUint16(at + 32, true);
    if (name.endsWith("/")) continue;
    if (flags & 1) throw new UserError("FILE_ZIP", `${path}: ${name} is encrypted. Unpack it first.`);
    if (method !== 0 && method !== 8) {
      throw new UserError(
        "FILE_ZIP",
        `${path}: ${name} is packed by method ${method}, not "deflate". Unpack it first.`,
      );
    }
    entries.push({
      name,
      size,
      compressedSize,
      stored: method === 0,
      async *pieces(open) {
        if (offset + 30 > open.size) throw damaged(`${name} lies outside`);
        const local = view(open.read(offset, 30));
        if (local.getUint32(0, true) !== LOCAL) throw damaged(`${name} is not where the directory says`);
        const from = offset + 30 + local.getUint16(26, true) + local.getUint16(28, true);
        if (from + compressedSize > open.size) throw damaged(`${name} is cut off`);
        for (let done = 0; done < compressedSize; done += PIECE) {
          yield open.read(from + done, Math.min(PIECE, compressedSize - done));
        }
      },
    });
  }
  return entries;
}
