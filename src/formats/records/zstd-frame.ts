// One record of a .bagz is one zstd frame (RFC 8878). Records of some 80 bytes do not compress: zstd itself stores them in
// a raw block, so writing raw blocks costs nothing, needs no compressor, and both ways are fast.

import { decompress } from "fzstd";
import { UserError } from "#base";

const MAGIC = 0x28b52ffd; // big-endian, as it stands in the file
const LARGEST_BLOCK = 128 * 1024;

/** A frame with its content stored as it is: the bytes zstd writes for content that does not compress. */
export function encodeFrame(content: Uint8Array): Uint8Array {
  const { length } = content;
  // The size of the content in 1, 2 or 4 bytes; the window is the content ("single segment").
  const sizeBytes = length < 256 ? 1 : length < 65_792 ? 2 : 4;
  const blocks = Math.max(1, Math.ceil(length / LARGEST_BLOCK));
  const frame = new Uint8Array(5 + sizeBytes + blocks * 3 + length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC);
  frame[4] = ((sizeBytes === 1 ? 0 : sizeBytes === 2 ? 1 : 2) << 6) | 0x20;
  if (sizeBytes === 1) frame[5] = length;
  else if (sizeBytes === 2) view.setUint16(5, length - 256, true);
  else view.setUint32(5, length, true);
  let out = 5 + sizeBytes;
  for (let block = 0; block < blocks; block++) {
    const part = content.subarray(block * LARGEST_BLOCK, (block + 1) * LARGEST_BLOCK);
    const header = (part.length << 3) | (block === blocks - 1 ? 1 : 0);
    frame[out] = header;
    frame[out + 1] = header >> 8;
    frame[out + 2] = header >> 16;
    frame.set(part, out + 3);
    out += 3 + part.length;
  }
  return frame;
}

/** The content of a frame, as a view on it if it is stored as it is. */
export function decodeFrame(frame: Uint8Array): Uint8Array {
  // A single segment of fewer than 256 bytes, without checksum or dictionary, in one raw block: nearly all of them.
  if (frame.length >= 9 && frame[4] === 0x20 && frame[0] === 0x28 && frame[1] === 0xb5) {
    const header = frame[6] | (frame[7] << 8) | (frame[8] << 16);
    if ((header & 7) === 1 && header >> 3 === frame[5] && frame.length === 9 + frame[5]) return frame.subarray(9);
  }
  try {
    return decompressFrames(frame);
  } catch (error) {
    throw new UserError("BAGZ_FRAME", `damaged zstd data (${(error as Error).message}).`);
  }
}

const ORDINARY_WINDOW = 8 << 20; // bytes; more only with --long or --ultra

/** The content of zstd frames. fzstd takes memory by what a frame says of itself, so that is held against its blocks first. */
export function decompressFrames(bytes: Uint8Array): Uint8Array {
  for (let at = 0; at < bytes.length; ) at = checkFrame(bytes, at);
  return decompress(bytes);
}

/** Returns where the frame ends. */
function checkFrame(bytes: Uint8Array, start: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const number = (at: number, size: number) => {
    let value = 0;
    for (let i = size - 1; i >= 0; i--) value = value * 256 + view.getUint8(at + i);
    return value;
  };
  if (bytes.length - start < 8) throw new Error("the frame ends too early");
  const magic = view.getUint32(start);
  if ((magic & 0xf0ffffff) >>> 0 === 0x502a4d18) return start + 8 + number(start + 4, 4); // a frame to skip
  if (magic !== MAGIC) throw new Error("not a zstd frame");
  const flags = bytes[start + 4];
  const single = (flags >> 5) & 1;
  const dictionaryBytes = [0, 1, 2, 4][flags & 3];
  const sizeBytes = flags >> 6 === 0 ? single : 1 << (flags >> 6);
  const window = single ? 0 : 2 ** (10 + (bytes[start + 5] >> 3));
  let at = start + 6 - single + dictionaryBytes;
  const size = number(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
  at += sizeBytes;
  let most = 0; // bytes that the blocks can become
  for (let last = 0; last === 0; ) {
    const header = number(at, 3);
    last = header & 1;
    const type = (header >> 1) & 3;
    if (type === 3) throw new Error("invalid block type");
    most += type === 2 ? LARGEST_BLOCK : header >> 3;
    at += 3 + (type === 1 ? 1 : header >> 3);
    if (at > bytes.length) throw new Error("the frame ends too early");
  }
  if (size > most) throw new Error(`it says that it becomes ${size} bytes, but its blocks become ${most} at most`);
  if (window > Math.max(most, ORDINARY_WINDOW)) throw new Error(`a window of ${window} bytes for ${most} at most`);
  return at + ((flags >> 2) & 1) * 4;
}
