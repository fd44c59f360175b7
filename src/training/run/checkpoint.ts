/**
 * Checkpoints: folders with model.safetensors (the weights), ema.safetensors (their moving average, if one is kept),
 * optimizer.safetensors (moments) and metadata.json. A folder of that name is always whole: it is filled under another.
 */

import { z } from "zod";
import { listFolder, mendFolder, readBytes, readText, removeFolder, replaceFolder, UserError, writeFile } from "#base";
import { type FamilyName, loadNetwork, type Network, networkBytes } from "#models";
import {
  type NamedTensor,
  parametersOf,
  readSafetensors,
  type TensorData,
  type TrainerState,
  writeSafetensors,
} from "#tensor";

const EMA = "ema.";

/** Sums of what was measured, to be divided by their count. */
export interface Sums {
  count: number;
  totals: Record<string, number>;
}

/** Where a run stands, between two steps. */
export interface Progress {
  epoch: number; // the one being worked on, from 1
  epochStep: number; // steps of it that are done
  step: number; // steps done in all
  window: Sums; // since the last line of the metrics
  epochSums: Sums;
  bestLoss: number | null;
  staleEpochs: number; // since the best one
  history: EpochSummary[];
}

/** An epoch in a few numbers, some of them the family's own; the names are those of OmegaZero's metadata.json. */
export interface EpochSummary {
  epoch: number;
  step: number;
  train_loss: number;
  val_loss: number | null; // null without validation data
  [more: string]: number | null;
}

export interface Checkpoint {
  progress: Progress;
  state: TrainerState;
}

const sums = z.object({ count: z.number(), totals: z.record(z.string(), z.number()) });
const progressSchema = z.object({
  epoch: z.number(),
  epochStep: z.number(),
  step: z.number(),
  window: sums,
  epochSums: sums,
  bestLoss: z.number().nullable(),
  staleEpochs: z.number(),
  history: z.array(z.custom<EpochSummary>((value) => typeof value === "object" && value !== null)),
}) satisfies z.ZodType<Progress>;

const named = (entries: readonly (readonly [string, TensorData])[]): NamedTensor[] =>
  entries.map(([name, { data, shape }]) => ({
    name,
    dtype: "float32",
    shape,
    data: data as Float32Array<ArrayBuffer>,
  }));

/** Saves a network as its parameters are now, with all that is needed to go on training it. */
export async function saveCheckpoint(
  folder: string,
  family: FamilyName,
  network: Network,
  { progress, state }: Checkpoint,
  metadata: object,
): Promise<void> {
  const entries = Object.entries(state.tensors);
  const moments = entries.filter(([name]) => !name.startsWith(EMA));
  const averages = new Map(entries.filter(([name]) => name.startsWith(EMA)));
  await replaceFolder(folder, async (to) => {
    await writeFile(`${to}/model.safetensors`, networkBytes(family, network));
    await writeFile(`${to}/optimizer.safetensors`, writeSafetensors(named(moments), { step: String(state.step) }));
    if (averages.size > 0) {
      const average = (name: string) => averages.get(EMA + name)!.data as Float32Array<ArrayBuffer>;
      await writeFile(`${to}/ema.safetensors`, networkBytes(family, network, average));
    }
    await writeFile(`${to}/metadata.json`, `${JSON.stringify({ ...metadata, progress }, null, 2)}\n`);
  });
}

/** Fills the network's parameters from a file of weights of the same architecture. */
export async function takeWeights(path: string, network: Network): Promise<void> {
  const loaded = await loadNetwork(path);
  const values = new Map(parametersOf(loaded.network).map((parameter) => [parameter.name, parameter]));
  for (const { name, shape, data } of parametersOf(network)) {
    const found = values.get(name);
    if (found?.shape.join() !== shape.join())
      throw new UserError(
        "WEIGHTS_SHAPE",
        `${path}: tensor ${name} has shape [${found?.shape.join(", ") ?? "missing"}], but this network needs [${shape.join(", ")}].\n` +
          `The file holds a network of the family ${loaded.family}: ${JSON.stringify(loaded.network.config)}.`,
      );
    data.set(found.data);
  }
}

/** Fills the network's parameters from a checkpoint and returns the rest of it. */
export async function loadCheckpoint(folder: string, network: Network): Promise<Checkpoint> {
  await takeWeights(`${folder}/model.safetensors`, network);
  const moments = await readTensors(`${folder}/optimizer.safetensors`);
  const averages = (await listFolder(folder))?.includes("ema.safetensors")
    ? await readTensors(`${folder}/ema.safetensors`)
    : { tensors: [], metadata: {} };
  const tensors = Object.fromEntries(
    [...moments.tensors, ...averages.tensors.map((tensor) => ({ ...tensor, name: EMA + tensor.name }))].map(
      ({ name, shape, data }) => [name, { data: data as Float32Array, shape, dtype: "float32" as const }],
    ),
  );
  const metadata = JSON.parse(await readText(`${folder}/metadata.json`));
  const parsed = progressSchema.safeParse(metadata.progress);
  if (!parsed.success)
    throw new UserError("CHECKPOINT_METADATA", `${folder}/metadata.json: not a checkpoint to go on from.`);
  return { progress: parsed.data, state: { step: Number(moments.metadata.step), tensors } };
}

const readTensors = async (path: string) => readSafetensors(await readBytes(path), path);

export const epochFolder = (run: string, epoch: number): string => `${run}/epoch_${String(epoch).padStart(3, "0")}`;
export const bestFolder = (run: string): string => `${run}/best`;
export const stepFolder = (run: string, step: number): string => `${run}/step_${String(step).padStart(9, "0")}`;

const isStep = (name: string) => /^step_\d+$/.test(name);
const isEpoch = (name: string) => /^epoch_\d+$/.test(name);

/** The checkpoint a run got furthest with, after mending what a crash left; undefined if there is none yet. */
export async function latestCheckpoint(run: string): Promise<string | undefined> {
  await mendFolder(bestFolder(run));
  let latest: { path: string; step: number } | undefined;
  for (const name of (await listFolder(run)) ?? []) {
    if (/\.(part|old)$/.test(name)) await removeFolder(`${run}/${name}`);
    if (!isStep(name) && !isEpoch(name)) continue;
    const path = `${run}/${name}`;
    const { progress } = JSON.parse(await readText(`${path}/metadata.json`)) as { progress: Progress };
    if (!latest || progress.step >= latest.step) latest = { path, step: progress.step };
  }
  return latest?.path;
}

/** Removes the checkpoints within epochs, but for the one of the given step. */
export async function removeSteps(run: string, keep?: number): Promise<void> {
  for (const name of (await listFolder(run)) ?? []) {
    if (isStep(name) && `${run}/${name}` !== stepFolder(run, keep ?? -1)) await removeFolder(`${run}/${name}`);
  }
}
