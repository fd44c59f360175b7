import { UserError } from "#base";
import { mutateBytes } from "./bytes.mjs";
import { allow, settle } from "./memory.mjs";
import { putFile } from "./memory-files.mjs";
import { mutate } from "./mutate.mjs";

const ROOM = 4 << 20; // bytes any reader may take at once, for buffers of a fixed size
const GAIN = 1100; // times the size of the input: what deflate and the like can pack at best

/** Reads an input, which may give a value or a UserError. */
async function reads(read, input) {
  try {
    return (await read(input)) !== false;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return false;
  } finally {
    settle();
  }
}

/** Reads the whole inputs of a corpus, and lets nothing take more memory from now on than they could need. */
async function begin(corpus, read, { room = ROOM, foreign = false }) {
  for (const whole of corpus)
    if ((await reads(read, whole)) === foreign) throw new Error(`a whole input of the corpus is ${foreign ? "read" : "refused"}: ${whole}`.slice(0, 500)); // biome-ignore format: one thought
  allow(room + 2 * GAIN * Math.max(...corpus.map(({ length }) => length)));
}

/** A target whose inputs are damaged files; `corpus` gives whole ones, `read` gets a path. */
export const fileTarget = (random, { name, read, ...rest }) =>
  bytesTarget(random, { ...rest, read: (bytes) => read(putFile(name, bytes)) });

/** A target whose inputs are damaged bytes in memory; `foreign` are files that belong elsewhere. */
export async function bytesTarget(random, { corpus, read, next = mutateBytes, ...limits }) {
  const whole = await corpus();
  await begin(whole, read, limits);
  return { next: () => next(random, whole), check: (bytes) => reads(read, bytes) };
}

/** A target whose inputs are damaged texts. */
export async function textTarget(random, { corpus, words, read, ...limits }) {
  await begin(corpus, read, limits);
  return { next: () => mutate(random, corpus, words), check: (text) => reads(read, text) };
}
