import { Random } from "#base";
import { FAMILIES, type Network } from "#models";
import { learningRateAt } from "#tensor";
import type { BatchSource } from "./batches/batch-source.js";
import { type Recipe, scheduleOf } from "./config.js";
import { differenceOf, flatWeights, type Round, takeFlatWeights } from "./exchange.js";
import { batchesOfSteps, stepsOf } from "./steps.js";
import type { Learner } from "./task.js";
import { taskOf } from "./tasks.js";

export interface RoundResult {
  difference: Float32Array;
  steps: number; // taken; fewer than asked for if it was stopped
  loss: number; // mean over them
}

/** Takes rounds of somebody else's training. The moments of its optimiser are its own, and live as long as it does. */
export class RoundTrainer {
  private constructor(
    private readonly recipe: Recipe,
    private readonly data: BatchSource,
    private readonly network: Network,
    private readonly learner: Learner,
  ) {}

  static async open(recipe: Recipe, data: BatchSource): Promise<RoundTrainer> {
    const network = FAMILIES[recipe.train.family].build(recipe.model, new Random(recipe.train.seed));
    return new RoundTrainer(recipe, data, network, await taskOf(recipe.train.family).learner(network, recipe));
  }

  /** Weights of the network, in numbers. */
  get size(): number {
    return flatWeights(this.network).length;
  }

  /**
   * Takes the steps of a round on a shard; stops after a step when told to, or when the loss is no longer a number. Without
   * a step there is no result.
   */
  async run(
    round: Round,
    shard: number,
    weights: Float32Array,
    isStopped: () => boolean,
  ): Promise<RoundResult | undefined> {
    const { recipe, data, network, learner } = this;
    const schedule = scheduleOf(recipe.train, recipe.train.epochs * stepsOf(recipe, data.positions).stepsPerEpoch);
    takeFlatWeights(network, weights);
    await learner.push();
    let [steps, loss] = [0, 0];
    for await (const batches of batchesOfSteps(recipe, data, { ...round, shard })) {
      if (isStopped()) break;
      const learningRate = learningRateAt(schedule, recipe.train.learningRate, round.step + steps);
      const measured = await learner.step(batches, { learningRate });
      if (!Object.values(measured).every(Number.isFinite)) return undefined;
      loss += measured.loss;
      if (++steps === round.steps) break;
    }
    if (steps === 0) return undefined;
    await learner.pull();
    return { difference: differenceOf(flatWeights(network), weights), steps, loss: loss / steps };
  }

  close(): Promise<void> {
    return this.learner.close();
  }
}
