import { findWeights } from "#models";
import { type Evaluator, RolloutEvaluator, UniformEvaluator } from "#search";
import { PLAYING_FAMILIES } from "../families.js";
import { readNetworkFile } from "../network-file.js";

/** How a network is run for a search. */
export interface EvaluatorOptions {
  threads?: number; // the network computes with; 0, the default: one per core
  steady?: boolean; // an answer does not depend on what else is asked at the same time; false by default
}

/** What can stand for a network in a tree search. */
export const BASELINES: Readonly<Record<string, () => Evaluator>> = {
  uniform: () => new UniformEvaluator(),
  rollouts: () => new RolloutEvaluator(),
};

interface Shared {
  evaluator: Promise<Evaluator>;
  users: number;
}

const shared = new Map<string, Shared>();

/**
 * The evaluator of a network: "uniform", "rollouts", a family's name for the shipped network, a file, a run or a checkpoint.
 * All who open the same file share it, with its batches and its memory, until the last of them closes it.
 */
export async function openEvaluator(
  network: string,
  { threads = 0, steady = false }: EvaluatorOptions = {},
): Promise<Evaluator> {
  if (Object.hasOwn(BASELINES, network)) return BASELINES[network]();
  const path = await findWeights(network);
  const key = `${threads} ${steady} ${path}`;
  let entry = shared.get(key);
  if (!entry) {
    entry = { evaluator: load(network, { threads, steady }), users: 0 };
    shared.set(key, entry);
  }
  entry.users++;
  return handle(await entry.evaluator.catch((error) => forget(key, entry, error)), () => release(key, entry));
}

async function load(network: string, options: Required<EvaluatorOptions>): Promise<Evaluator> {
  const file = await readNetworkFile(network);
  return PLAYING_FAMILIES[file.family].evaluator(file, options);
}

function forget(key: string, entry: Shared, error: unknown): never {
  if (shared.get(key) === entry) shared.delete(key);
  throw error;
}

async function release(key: string, entry: Shared): Promise<void> {
  if (--entry.users > 0) return;
  if (shared.get(key) === entry) shared.delete(key);
  await (await entry.evaluator).close();
}

/** One user's hold on a shared evaluator. */
function handle(evaluator: Evaluator, onClose: () => Promise<void>): Evaluator {
  let closed: Promise<void> | undefined;
  return {
    batchSize: evaluator.batchSize,
    scoreScale: evaluator.scoreScale,
    evaluate: (positions) => evaluator.evaluate(positions),
    recall: (position) => evaluator.recall(position),
    close: () => (closed ??= onClose()),
  };
}
