// Files of any size through a store: cut into pieces, each named by its hash, so that neither side holds more than one.
import * as z from "zod";
import { createOutput, listFolder, makeFolder, openRandom, UserError } from "#base";
import { sha256 } from "./hash.js";
import type { FileStore } from "./store.js";

const PIECE_BYTES = 8 * 1024 * 1024;
const ENDING = /((?:\.[a-z0-9]{1,12}){1,3})$/;

export const FILE_SCHEMA = z.strictObject({
  ending: z.string().regex(/^(\.[a-z0-9]{1,12}){0,3}$/), // of its name, which tells its format
  bytes: z.int().min(0),
  pieces: z.array(z.string().regex(/^[0-9a-f]{64}$/)), // hashes
});

/** A file by what is in it; its name elsewhere follows from it. */
export type PiecedFile = z.infer<typeof FILE_SCHEMA>;

/** Puts a file into a store. Pieces that are there already cost only their reading. */
export async function putFile(store: FileStore, path: string): Promise<PiecedFile> {
  const file = await openRandom(path);
  try {
    const pieces: string[] = [];
    for (let at = 0; at < file.size; at += PIECE_BYTES)
      pieces.push(await store.put(file.read(at, Math.min(PIECE_BYTES, file.size - at))));
    return { ending: ENDING.exec(path.toLowerCase())?.[1] ?? "", bytes: file.size, pieces };
  } finally {
    file.close();
  }
}

/** Whether a file that was kept from another time is still what its name says. */
async function isWhole(path: string, bytes: number, pieces: readonly string[]): Promise<boolean> {
  const file = await openRandom(path);
  try {
    if (file.size !== bytes) return false;
    for (const [i, piece] of pieces.entries()) {
      const start = i * PIECE_BYTES;
      if ((await sha256(file.read(start, Math.min(PIECE_BYTES, bytes - start)))) !== piece) return false;
    }
    return true;
  } finally {
    file.close();
  }
}

/** Brings a file into a folder and tells its path; one that is there already, and sound, is not fetched again. */
export async function fetchFile(
  store: FileStore,
  { ending, bytes, pieces }: PiecedFile,
  folder: string,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<string> {
  if (pieces.length !== Math.ceil(bytes / PIECE_BYTES))
    throw new UserError("FILE_PIECES", `a file of ${bytes} bytes in ${pieces.length} pieces: the description is damaged.`); // biome-ignore format: a sentence
  if (bytes > mostBytes)
    throw new UserError("FILE_LARGE", `a file of ${bytes} bytes is asked for, and ${mostBytes} are allowed here.`);
  const name = (await sha256(new TextEncoder().encode(pieces.join()))) + ending.replace(/\.(gz|zst)$/, ""); // formats are told by content
  const path = `${folder}/${name}`;
  if ((await listFolder(folder))?.includes(name) && (await isWhole(path, bytes, pieces))) return path;
  await makeFolder(folder);
  const output = await createOutput(path);
  try {
    for (const [i, piece] of pieces.entries()) {
      const length = Math.min(PIECE_BYTES, bytes - i * PIECE_BYTES);
      const found = await store.get(piece, "", length);
      if (found?.length !== length)
        throw new UserError("FILE_PIECE", `piece ${i + 1} of ${pieces.length} (${piece}) is not in the store, or is damaged.`); // biome-ignore format: a sentence
      await output.write(found);
    }
  } catch (error) {
    await output.abort();
    throw error;
  }
  await output.commit();
  return path;
}
