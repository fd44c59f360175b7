import { processors } from "#base";
import { type Feeds, type Tensor, Trainer } from "#tensor";
import { optimiserOf, type TrainConfig } from "./config.js";
import type { Learner } from "./task.js";

/** What a network that is a graph is trained on. */
export interface Objective {
  loss: Tensor; // one number
  metrics: Record<string, Tensor>; // further numbers, averaged over a batch
}

/** Trains a network by the gradients of an objective; its inputs are what batches are made of. */
export async function openGraphLearner(
  model: object,
  { loss, metrics }: Objective,
  train: TrainConfig,
): Promise<Learner<Feeds>> {
  const { clip, ema, seed, device, threads } = train;
  const optimiser = optimiserOf(train);
  const replicas = replicasFor(train);
  const trainer = await Trainer.open({ model, loss, metrics, optimiser, clip, ema, seed, device, threads, replicas });
  return {
    step: (batches, options) => trainer.step(batches, options),
    pull: (options) => trainer.pull(options),
    push: () => trainer.push(),
    state: () => trainer.state(),
    restore: (state) => trainer.restore(state),
    close: () => trainer.close(),
  };
}

/** Workers that share the runs of a step: as many as have a thread each and the same number of runs. */
function replicasFor({ accumulate, device, threads }: TrainConfig): number {
  if (device !== "cpu") return 1;
  let count = Math.min(accumulate, threads || processors());
  while (accumulate % count !== 0) count--;
  return count;
}
