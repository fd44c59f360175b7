import { listFolder, UserError } from "#base";

/** The file of weights that a user means by a path: a file itself, a checkpoint, or a run (its best checkpoint). */
export async function findWeights(path: string): Promise<string> {
  const names = await listFolder(path);
  if (names === undefined) return path;
  for (const file of ["ema.safetensors", "model.safetensors"]) if (names.includes(file)) return `${path}/${file}`;
  if (names.includes("best")) return findWeights(`${path}/best`);
  throw new UserError(
    "CHECKPOINT_MISSING",
    `${path}: no checkpoint in this folder: expected model.safetensors, or best/ of a run of tabiya train.`,
  );
}
