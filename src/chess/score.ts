/**
 * What scores mean, everywhere in the project. A score is in centipawns for the side to move. A mate in n plies is
 * MATE_CP - n, being mated in n plies is n - MATE_CP; no evaluation leaves -HIGHEST_CP .. HIGHEST_CP, so every score
 * beyond is a mate. The core has the first two numbers in assembly/chess/rules/score.ts.
 */
export const MATE_CP = 32_000;
/** The highest score that is no mate, in centipawns. */
export const HIGHEST_CP = 30_000;

/** Whether a score says that somebody is mated. */
export const isMateScore = (scoreCp: number): boolean => Math.abs(scoreCp) > HIGHEST_CP;

/** The score of giving mate in `moves` moves; a negative number, or 0, of being mated in as many. */
export const mateScore = (moves: number): number => (moves > 0 ? MATE_CP + 1 - 2 * moves : -MATE_CP - 2 * moves);

/** Moves until the mate of a score, negative (or 0) if the side to move is mated; undefined if it is no mate. */
export function movesToMate(scoreCp: number): number | undefined {
  if (!isMateScore(scoreCp)) return undefined;
  return scoreCp > 0 ? Math.ceil((MATE_CP - scoreCp) / 2) : -Math.floor((MATE_CP + scoreCp) / 2);
}

const clamp = (value: number, limit: number): number => Math.max(-limit, Math.min(limit, value));

/** The nearest score there is, mates included. */
export const clampScore = (scoreCp: number): number => clamp(scoreCp, MATE_CP);

/** The nearest score that is no mate. */
export const clampEvaluation = (scoreCp: number): number => clamp(scoreCp, HIGHEST_CP);

/** A move's value as records have it, centipawns or "#n" for a mate in n moves, as a score; undefined if it is neither. */
export function parseScore(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  const mate = typeof value === "string" ? /^#(-?\d+)$/.exec(value) : null;
  return mate ? mateScore(Number(mate[1])) : undefined;
}

const SLOPE = 0.00368208; // per centipawn: Lichess's curve, github.com/lichess-org/lila/pull/11148

/** The share of points that a score is worth, from 0 to 1: Lichess's curve, which DeepMind's searchless chess uses. */
export const winProbability = (scoreCp: number): number => 0.5 + 0.5 * (2 / (1 + Math.exp(-SLOPE * scoreCp)) - 1);

/** The score that a win probability stands for; infinite at 0 and 1. */
export const scoreOfProbability = (probability: number): number => Math.log(probability / (1 - probability)) / SLOPE;

/** Win probabilities nearer to 0 and 1 than this, beyond 2,500 centipawns, count as this in preferences. */
export const CERTAINTY = 1e-4;

/**
 * How much a move is preferred to others, given its win probability: that, and `odds` times its log-odds, which still tell
 * moves apart where all of them win or all lose.
 */
export const preferenceOf = (probability: number, odds: number): number => {
  const p = Math.max(CERTAINTY, Math.min(1 - CERTAINTY, probability));
  return p + odds * Math.log(p / (1 - p));
};

/** Centipawns k for which the value tanh(score / k) is 2 * winProbability - 1. */
export const PROBABILITY_SCALE_CP = 2 / SLOPE;

/** Centipawns k in the value tanh(score / k) of a position, where nobody chose another. */
export const VALUE_SCALE_CP = 400;

/** A score as a value from -1 to 1: tanh(score / scale); a mate is +-1. */
export const valueOfScore = (scoreCp: number, scaleCp = VALUE_SCALE_CP): number =>
  isMateScore(scoreCp) ? Math.sign(scoreCp) : Math.tanh(scoreCp / scaleCp);

const CERTAIN = 0.9999; // values beyond say no more than this one, 4.95 scales

/** The score that a value stands for, in whole centipawns; never a mate, of which a value knows nothing. */
export const scoreOfValue = (value: number, scaleCp = VALUE_SCALE_CP): number =>
  Math.round(scaleCp * Math.atanh(clamp(value, CERTAIN)));

/** Win, draw and loss in thousandths that add up to 1000. */
export type Wdl = readonly [win: number, draw: number, loss: number];

/** Probabilities of win, draw and loss as thousandths. */
export function wdlOfShares(shares: ArrayLike<number>): Wdl {
  const [win, loss] = [Math.round(shares[0] * 1000), Math.round(shares[2] * 1000)];
  return [win, 1000 - win - loss, loss];
}

/** Of a score that wins every second game, in centipawns: with bare kings, and how much less with all pieces on the board. */
const EVEN_CP = { bare: 292, full: 65 };
const SPREAD_CP = 113; // of both curves
const FULL = 78; // what the pieces of the start position are worth

/**
 * Win, draw and loss that a score makes likely: two logistic curves. The fewer pieces are left, the more it takes to win;
 * `material` is what those of both sides are worth (`Position.material()`). Fitted to 94,000 positions of engine games
 * (bench/wdl.mjs, docs/log/data.md).
 */
export function wdlOfScore(scoreCp: number, material: number): Wdl {
  const even = EVEN_CP.bare + (EVEN_CP.full - EVEN_CP.bare) * Math.min(1, material / FULL);
  const chance = (cp: number) => 1 / (1 + Math.exp(-(cp - even) / SPREAD_CP));
  return wdlOfShares([chance(scoreCp), 0, chance(-scoreCp)]);
}

/** The share of the point that win, draw and loss promise. */
export const expectedPoints = ([win, draw, loss]: Wdl): number => (win + draw / 2) / (win + draw + loss);
