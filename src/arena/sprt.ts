// The generalised sequential probability ratio test over game pairs, as fishtest does it: for each hypothesis take the
// most likely distribution of pair results that fits it, and compare the two likelihoods.
// Source: M. Van den Bergh, cantate.be/Fishtest: support_MLE_multinomial.pdf (Proposition 1.1) for logistic Elo,
// normalized_elo_practical.pdf (section 4.1) for normalised Elo.
import { assert } from "#base";
import { NORMALIZED_ELO_PER_T, type Pentanomial, scoreOfElo } from "./elo.js";

/**
 * What `elo0` and `elo1` mean. Logistic Elo is the usual one. Normalised Elo divides the score by its spread per game,
 * so that the same bounds need the same number of games whatever the book and the draw rate.
 */
export const ELO_MODELS = ["logistic", "normalized"] as const;
/** The scale in which the hypotheses of a test are given. */
export type EloModel = (typeof ELO_MODELS)[number];

/** The two hypotheses of a sequential test and its error rates. */
export interface SprtConfig {
  elo0: number; // the change is worthless if it gains no more than this
  elo1: number; // the change is good if it gains at least this
  alpha: number; // how often a worthless change may pass
  beta: number; // how often a good change may fail
  model: EloModel;
}

/** The usual error rates of a test: 5 % each, in logistic Elo. */
export const SPRT_DEFAULTS: Omit<SprtConfig, "elo0" | "elo1"> = { alpha: 0.05, beta: 0.05, model: "logistic" };

/** How far a sequential test has come. */
export interface SprtState {
  /** Log-likelihood ratio of elo1 against elo0. */
  llr: number;
  lower: number;
  upper: number;
  result: "H0" | "H1" | "undecided";
}

/** One value a pair may have (as a share of its two points) and how often it was seen, as a share of all pairs. */
type Distribution = readonly { value: number; share: number }[];

/** A result never seen gets this count, so that no logarithm is infinite. Fishtest's figure. */
const UNSEEN = 1e-3;

/** Finds x with sum share * value / (1 + x * value) = 0 where every 1 + x * value is positive. */
function solveSecular(terms: Distribution): number {
  const values = terms.map((term) => term.value);
  let low = -1 / Math.max(...values);
  let high = -1 / Math.min(...values);
  assert(low < 0 && high > 0, "the values of a secular equation lie on both sides of zero");
  let x = 0;
  for (let i = 0; i < 200; i++) {
    let f = 0;
    let slope = 0; // the sum falls steadily from one pole to the other
    for (const { value, share } of terms) {
      const q = value / (1 + x * value);
      f += share * q;
      slope -= share * q * q;
    }
    if (f > 0) low = x;
    else high = x;
    let next = x - f / slope;
    if (!(next > low && next < high)) next = (low + high) / 2;
    if (Math.abs(next - x) <= 1e-14 * Math.abs(next)) break;
    x = next;
  }
  return x;
}

/** The most likely distribution with this mean. */
function fitMean(seen: Distribution, mean: number): number[] {
  const x = solveSecular(seen.map(({ value, share }) => ({ value: value - mean, share })));
  return seen.map(({ value, share }) => share / (1 + x * (value - mean)));
}

/** The most likely distribution whose mean lies `t` standard deviations above one half. */
function fitT(seen: Distribution, t: number): number[] {
  let fitted = seen.map(() => 1 / seen.length);
  for (let round = 0; round < 100; round++) {
    let mean = 0;
    let square = 0;
    seen.forEach(({ value }, i) => {
      mean += fitted[i] * value;
      square += fitted[i] * value * value;
    });
    const variance = square - mean * mean;
    const sigma = Math.sqrt(variance);
    const terms = seen.map(({ value, share }) => ({
      value: value - 0.5 - (t * sigma * (1 + (mean - value) ** 2 / variance)) / 2,
      share,
    }));
    const x = solveSecular(terms);
    const next = terms.map(({ value, share }) => share / (1 + x * value));
    const change = Math.max(...next.map((p, i) => Math.abs(p - fitted[i])));
    fitted = next;
    if (change < 1e-12) break;
  }
  return fitted;
}

/** The log-likelihood ratio of `elo1` against `elo0`; `counts` are pairs (5 of them) or games (3), by points. */
export function logLikelihoodRatio(
  counts: readonly number[],
  { elo0, elo1, model }: Pick<SprtConfig, "elo0" | "elo1" | "model">,
): number {
  const smoothed = counts.map((count) => (count === 0 ? UNSEEN : count));
  const total = smoothed.reduce((sum, count) => sum + count, 0);
  const seen = smoothed.map((count, i) => ({ value: i / (counts.length - 1), share: count / total }));
  const gamesPerResult = counts.length === 5 ? 2 : 1;
  const fitted = (elo: number) =>
    model === "logistic"
      ? fitMean(seen, scoreOfElo(elo))
      : fitT(seen, (elo / NORMALIZED_ELO_PER_T) * Math.sqrt(gamesPerResult));
  const [p0, p1] = [fitted(elo0), fitted(elo1)];
  return total * seen.reduce((sum, { share }, i) => sum + share * Math.log(p1[i] / p0[i]), 0);
}

/** The log-likelihood ratios at which a test ends: at `lower` for elo0, at `upper` for elo1. */
export const sprtBounds = ({ alpha, beta }: Pick<SprtConfig, "alpha" | "beta">) => ({
  lower: Math.log(beta / (1 - alpha)),
  upper: Math.log((1 - beta) / alpha),
});

/**
 * Games after which nearly every test is decided. Midway between the hypotheses, where tests are longest, the ratio is a random
 * walk without drift that takes lower * upper / variance games on average; of those not one in a hundred takes four times as many.
 * The variance is that of games without draws: draws only make tests shorter.
 */
export function sprtGames(config: Pick<SprtConfig, "elo0" | "elo1" | "alpha" | "beta">): number {
  const { lower, upper } = sprtBounds(config);
  const step = (config.elo1 - config.elo0) / NORMALIZED_ELO_PER_T;
  return 2 * Math.ceil((2 * -lower * upper) / step ** 2);
}

/** Where the test stands after these pairs. */
export function sprt(pairs: Readonly<Pentanomial>, config: SprtConfig): SprtState {
  const { lower, upper } = sprtBounds(config);
  const llr = pairs.some((count) => count > 0) ? logLikelihoodRatio(pairs, config) : 0;
  return { llr, lower, upper, result: llr >= upper ? "H1" : llr <= lower ? "H0" : "undecided" };
}
