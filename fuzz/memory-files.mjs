// A file in memory that the readers find under its name: a million are read, and a disk would take most of the time, as
// would threads and processes that unpack. One in a hundred is unpacked as usual.

import zlib from "node:zlib";
import { decompress as unzstd } from "fzstd";

import { UserError } from "#base";
import { platform } from "#platform";

const files = new Map();
const { openRaw, openRandom, decompress } = platform;
const UNPACK = { gzip: zlib.gunzipSync, deflate: zlib.inflateRawSync, zstd: unzstd };
const USUAL = 100; // one in so many
let unpacked = 0;

const find = (path) => {
  const bytes = files.get(path);
  if (bytes === undefined) throw new UserError("FILE_MISSING", `${path}: no such file or folder.`);
  return bytes;
};
const isHere = (path) => path.startsWith("memory/") || path.startsWith("limits.memory/");

platform.openRaw = async (path) => {
  if (!isHere(path)) return openRaw(path);
  const bytes = find(path);
  return {
    size: bytes.length,
    async *[Symbol.asyncIterator]() {
      if (bytes.length > 0) yield bytes.slice();
    },
  };
};
platform.openRandom = async (path) => {
  if (!isHere(path)) return openRandom(path);
  const bytes = find(path);
  const read = (offset, length) => {
    const part = new Uint8Array(length);
    if (offset + length > bytes.length) throw new UserError("FILE_TRUNCATED", `${path}: ends at byte ${bytes.length}.`);
    part.set(bytes.subarray(offset, offset + length));
    return part;
  };
  return { size: bytes.length, read, close() {} };
};

platform.decompress = async function* (kind, bytes, name) {
  if (unpacked++ % USUAL === 0) {
    yield* decompress(kind, bytes, name);
    return;
  }
  const parts = [];
  for await (const part of bytes) parts.push(part);
  let content;
  try {
    content = UNPACK[kind](Buffer.concat(parts));
  } catch (error) {
    throw new UserError("FILE_CORRUPT", `${name}: ${error.message}`);
  }
  yield content;
};

/** The path of the only file of this name. */
export function putFile(name, bytes) {
  const path = `memory/${name}`;
  files.set(path, bytes);
  return path;
}
