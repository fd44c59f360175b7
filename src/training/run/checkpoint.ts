/**
 * Checkpoints: folders with model.safetensors (the weights), ema.safetensors (their moving average, if one is kept),
 * optimizer.safetensors (moments) and metadata.json. A folder of that name is always whole: it is filled under another.
 */

import * as z from "zod";
import { listFolder, readBytes, readText, replaceFolder, UserError, writeFile } from "#base";
import { readNnueNetwork } from "#formats";
import { type FamilyName, growNnue, isNnueFile, loadNetwork, type Network, Nnue, networkBytes } from "#models";
import {
  type NamedTensor,
  parametersOf,
  readSafetensors,
  type TensorData,
  type TrainerState,
  writeSafetensors,
} from "#tensor";
import { upgradeSettings } from "../upgrade.js";

const EMA = "ema.";
const OUTER = "outer.safetensors";

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

/** An epoch in numbers, by the names they have in the metrics. */
export interface EpochSummary {
  epoch: number;
  step: number;
  train: Measured; // means over its steps
  validation: Measured | null; // null without validation data
}

/** Results of validation by name; the loss is always there. */
export type Measured = { loss: number } & Record<string, number>;

/** All that a training needs to go on. */
export interface Checkpoint {
  progress: Progress;
  state: TrainerState;
  velocity?: Float32Array; // of the outer steps, if the weights were last exchanged with others
}

const sums = z.object({ count: z.number(), totals: z.record(z.string(), z.number()) });
const measured = z.object({ loss: z.number() }).catchall(z.number());
const summarySchema = z.object({
  epoch: z.number(),
  step: z.number(),
  train: measured,
  validation: measured.nullable(),
});

/** Before 2026-11-18 a summary had the names of metadata.json; of those the losses are still needed. */
function upgradeSummary(summary: unknown): unknown {
  if (typeof summary !== "object" || summary === null || !("train_loss" in summary)) return summary;
  const { train_loss, val_loss = null, ...rest } = summary as Record<string, unknown>;
  return { ...rest, train: { loss: train_loss }, validation: val_loss === null ? null : { loss: val_loss } };
}

const progressSchema = z.object({
  epoch: z.number(),
  epochStep: z.number(),
  step: z.number(),
  window: sums,
  epochSums: sums,
  bestLoss: z.number().nullable(),
  staleEpochs: z.number(),
  history: z.array(z.preprocess(upgradeSummary, summarySchema)),
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
  { progress, state, velocity }: Checkpoint,
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
    if (velocity) {
      const tensor = { data: velocity, shape: [velocity.length], dtype: "float32" } as const;
      await writeFile(`${to}/${OUTER}`, writeSafetensors(named([["velocity", tensor]])));
    }
    await writeFile(`${to}/metadata.json`, `${JSON.stringify({ ...metadata, progress }, null, 2)}\n`);
  });
}

/** Fills the network's parameters from a file of weights of the same architecture, or from a smaller quantised NNUE. */
export async function takeWeights(path: string, network: Network): Promise<void> {
  if (isNnueFile(path) && network instanceof Nnue) {
    const weights = readNnueNetwork(await readBytes(path), path);
    if (weights.kind === "wide") return growNnue(weights, network, path);
  }
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
  const outer = (await listFolder(folder))?.includes(OUTER) ? await readTensors(`${folder}/${OUTER}`) : undefined;
  return {
    progress: await loadProgress(folder),
    state: { step: Number(moments.metadata.step), tensors },
    velocity: outer?.tensors[0].data as Float32Array | undefined,
  };
}

/** Where the run stood when the checkpoint was saved. */
export async function loadProgress(folder: string): Promise<Progress> {
  const metadata = await loadMetadata(folder);
  const parsed = progressSchema.safeParse(metadata.progress);
  if (parsed.success) return parsed.data;
  throw new UserError("CHECKPOINT_METADATA", `${folder}/metadata.json: not a checkpoint to resume from.`);
}

/** What a checkpoint says of itself beside its weights: epoch, step, what was measured, and the config. */
export async function loadMetadata(folder: string): Promise<Record<string, unknown>> {
  const path = `${folder}/metadata.json`;
  const text = await readText(path);
  try {
    return JSON.parse(text);
  } catch {
    throw new UserError("CHECKPOINT_METADATA", `${path}: damaged: not JSON.`);
  }
}

/** The settings of what is learnt that a file of weights was trained by; none if it stands alone. */
export async function loadTaskSettings(weights: string, { fields }: { fields: object }): Promise<object> {
  const folder = weights.replace(/[^/\\]*$/, "").slice(0, -1) || ".";
  if (!(await listFolder(folder))?.includes("metadata.json")) return {};
  const { config } = await loadMetadata(folder);
  const settings = upgradeSettings({ ...(config as object | undefined) });
  return Object.fromEntries(Object.entries(settings).filter(([key]) => Object.hasOwn(fields, key)));
}

const readTensors = async (path: string) => readSafetensors(await readBytes(path), path);
