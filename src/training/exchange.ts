// Training on several machines (DiLoCo, Douillard et al. 2023, arXiv 2311.08105): each takes a round of ordinary steps on
// positions of its own, then all go on from common weights. What goes between them is the interface below; `cluster/`
// makes it real, and a training without one is a training alone.
import { type Parameter, parametersOf } from "#tensor";

/** Where in a run a round begins, and how many steps it has. */
export interface Round {
  epoch: number; // from 1
  epochStep: number; // steps of the epoch that are done
  step: number; // steps of the run that are done
  steps: number;
}

/** Where a training meets others, between rounds. Weights are all parameters of the network, one behind the other. */
export interface Exchange {
  /** A round begins with these weights; resolves to them as others have them, which may be rounded. */
  begin(round: Round, weights: Float32Array): Promise<Float32Array>;
  /**
   * Gives what the round changed, gets the mean of what it changed everywhere; undefined if nobody else took part.
   */
  end(difference: Float32Array): Promise<Float32Array | undefined>;
}

/** All parameters of a network, one behind the other. */
export function flatWeights(network: object): Float32Array {
  const parameters = parametersOf(network);
  const flat = new Float32Array(parameters.reduce((sum, { data }) => sum + data.length, 0));
  eachSpan(parameters, ({ data }, start) => flat.set(data, start));
  return flat;
}

/** Gives a network's parameters the values that `flatWeights` would find. */
export function takeFlatWeights(network: object, flat: Float32Array): void {
  eachSpan(parametersOf(network), ({ data }, start, end) => data.set(flat.subarray(start, end)));
}

function eachSpan(
  parameters: readonly Parameter[],
  visit: (parameter: Parameter, start: number, end: number) => void,
): void {
  let start = 0;
  for (const parameter of parameters) {
    visit(parameter, start, start + parameter.data.length);
    start += parameter.data.length;
  }
}

/** What a round changed. */
export const differenceOf = (after: Float32Array, before: Float32Array): Float32Array =>
  after.map((value, i) => value - before[i]);

/**
 * The outer step: weights follow the mean difference by Nesterov's momentum, as an SGD whose gradient it is. Running
 * statistics, which are measured and not learnt, become their mean.
 */
export function outerStep(
  network: object,
  { before, mean, velocity }: { before: Float32Array; mean: Float32Array; velocity: Float32Array | undefined },
  { rate, momentum }: { rate: number; momentum: number },
): { weights: Float32Array; velocity: Float32Array } {
  const weights = before.map((value, i) => value + mean[i]);
  const moved = velocity?.slice() ?? new Float32Array(mean.length);
  eachSpan(parametersOf(network), ({ trainable }, start, end) => {
    if (!trainable) return;
    for (let i = start; i < end; i++) {
      moved[i] = momentum * moved[i] + mean[i];
      weights[i] = before[i] + rate * (mean[i] + momentum * moved[i]);
    }
  });
  return { weights, velocity: moved };
}
