import { listFolder, UserError } from "#base";
import { isFamily } from "./families.js";
import { findShipped } from "./shipped.js";

/**
 * The file of weights that a user means: the shipped network of a family, as "residual"; a file itself; or a checkpoint or
 * run (its best checkpoint).
 */
export async function findWeights(path: string): Promise<string> {
  if (isFamily(path)) return findShipped(path);
  const names = await listFolder(path);
  if (names === undefined) return path;
  for (const file of ["ema.safetensors", "model.safetensors"]) if (names.includes(file)) return `${path}/${file}`;
  if (names.includes("best")) return findWeights(`${path}/best`);
  throw new UserError(
    "CHECKPOINT_MISSING",
    `${path}: no checkpoint in this folder: expected model.safetensors, or best/ of a run of tabiya train.`,
  );
}
