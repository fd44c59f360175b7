import * as z from "zod";
import { listFolder, parsePlain, readText, UserError, writeFile } from "#base";
import { type BatchSource, parseSource, type Recipe, resolveRecipe, taskOf } from "#training";
import { FILE_SCHEMA, fetchFile, type PiecedFile, putFile } from "../stores/pieces.js";
import type { FileStore } from "../stores/store.js";

const SCHEMA = z.strictObject({
  settings: z.record(z.string(), z.unknown()), // of the recipe
  files: z.array(
    z.strictObject({
      file: FILE_SCHEMA,
      mix: z.string().regex(/^(\?\w+=[\d.e-]+(&\w+=[\d.e-]+)*)?$/), // as parseSource reads it behind a name
      beside: z.string().max(65_536), // FILE.meta.json, which some formats have; else empty
    }),
  ),
  fingerprint: z.string(), // of the data, when they are opened
});

/** All that another machine needs to take part in a training. */
export type TrainingOffer = z.infer<typeof SCHEMA>;

const OFFER_BYTES = 64 * 1024 * 1024;
const META = ".meta.json";

/** Puts the data of a training and its description into a store; the hash of the latter. */
export async function putOffer(
  store: FileStore,
  recipe: Recipe,
  paths: readonly string[],
  fingerprint: string,
): Promise<string> {
  // Paths of this machine mean nothing elsewhere, nor does the number of its threads.
  const { data: _, validation: __, start: ___, threads: ____, ...train } = recipe.train;
  const files: TrainingOffer["files"] = [];
  for (const source of paths) {
    const { path } = parseSource(source);
    const file: PiecedFile = await putFile(store, path);
    files.push({ file, mix: source.slice(path.length), beside: await besideOf(path) });
  }
  const offer: TrainingOffer = { settings: { ...train, ...recipe.task, ...recipe.model }, files, fingerprint };
  return store.put(new TextEncoder().encode(JSON.stringify(offer)));
}

async function besideOf(path: string): Promise<string> {
  const cut = path.lastIndexOf("/");
  const names = await listFolder(cut < 0 ? "." : path.slice(0, cut) || "/");
  return names?.includes(path.slice(cut + 1) + META) ? readText(path + META) : "";
}

/** Fetches and opens what an offer names. Nothing of it is a path or a command: only numbers, words and hashes. */
export async function openOffer(
  store: FileStore,
  hash: string,
  { cache, threads, mostBytes }: { cache: string; threads: number; mostBytes?: number },
): Promise<{ recipe: Recipe; data: BatchSource }> {
  const bytes = await store.get(hash, "", OFFER_BYTES);
  if (!bytes) throw new UserError("OFFER_MISSING", `the description ${hash} of a training is not in the store.`);
  const { settings, files, fingerprint } = parsePlain(SCHEMA, JSON.parse(new TextDecoder().decode(bytes)), "training");
  const recipe = resolveRecipe({ ...settings, data: [], validation: [], start: "", threads }, "training");
  const paths: string[] = [];
  for (const { file, mix, beside } of files) {
    const path = await fetchFile(store, file, cache, mostBytes);
    if (beside !== "") await writeFile(path + META, beside);
    paths.push(path + mix);
  }
  const data = await taskOf(recipe.train.family).open(paths, recipe, recipe.train.limit);
  if (data.fingerprint === fingerprint) return { recipe, data };
  await data.close();
  throw new UserError("DATA_DIFFERS", `the data of a training read differently here: ${data.fingerprint}, expected ${fingerprint}. Is it another version of Tabiya?`); // biome-ignore format: a sentence
}
