// A file in memory that the readers find under its name: a million are read, and a disk would take most of the time.

import { UserError } from "#base";
import { platform } from "#platform";

const files = new Map();
const { openRaw, openRandom } = platform;

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

/** The path of the only file of this name. */
export function putFile(name, bytes) {
  const path = `memory/${name}`;
  files.set(path, bytes);
  return path;
}
