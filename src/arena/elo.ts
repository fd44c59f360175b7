// Elo from counted games. Model: the expected score of a player `elo` stronger is 1 / (1 + 10^(-elo / 400)).
// The error comes from the spread of game *pairs* (one opening, both colours), not of games: the two games of a pair
// are not independent, since an opening that favours White helps each player once. (Van den Bergh, "A practical
// introduction to the GSPRT", cantate.be/Fishtest.)
import { normalBelow, Z95 } from "#base";

/** Games from the first player's view. */
export interface Score {
  wins: number;
  draws: number;
  losses: number;
}

/** Pairs by the first player's points in them: 0, 1/2, 1, 3/2, 2. */
export type Pentanomial = [number, number, number, number, number];

/** What the games of a match say of two players, with its uncertainty. */
export interface Estimate {
  /** Share of the points, 0..1; 0.5 before the first game. */
  score: number;
  /** Elo difference; null if infinite (every game won, or every game lost). */
  elo: number | null;
  /** Half the width of the 95 % interval, in Elo; null where it has no bound or all pairs ended alike. */
  error: number | null;
  /** Normalised Elo: the distance from an even score by the spread of one game; null where all games ended alike. */
  normalized: number | null;
  /** Half the width of its 95 % interval, which depends on the number of games alone. */
  normalizedError: number | null;
  /** Likelihood of superiority: how sure we may be that the first player is the stronger, 0..1. */
  los: number;
  drawRate: number;
}

/** Normalised Elo of a score that lies one standard deviation of a game above one half. */
export const NORMALIZED_ELO_PER_T = 800 / Math.log(10);

/** The share of the points that is expected at this Elo difference. */
export const scoreOfElo = (elo: number): number => 1 / (1 + 10 ** (-elo / 400));

/** The Elo difference at which this share of the points is expected. */
export const eloOfScore = (score: number): number => -400 * Math.log10(1 / score - 1);

const NO_GAMES: Readonly<Estimate> = {
  score: 0.5,
  elo: 0,
  error: null,
  normalized: null,
  normalizedError: null,
  los: 0.5,
  drawRate: 0,
};

/** Variance of the value `i` that occurs `counts[i]` times. */
function varianceOf(counts: readonly number[]): number {
  let n = 0;
  let sum = 0;
  let squares = 0;
  counts.forEach((count, value) => {
    n += count;
    sum += count * value;
    squares += count * value * value;
  });
  return n === 0 ? 0 : Math.max(0, squares / n - (sum / n) ** 2);
}

/**
 * Strength of the first player over the second. Games whose pair is not finished count as single games; without any
 * finished pair this is the trinomial estimate.
 */
export function estimate({ wins, draws, losses }: Score, pairs: Readonly<Pentanomial>): Estimate {
  const games = wins + draws + losses;
  if (games === 0) return NO_GAMES;
  const score = (wins + draws / 2) / games;

  // Variance of the whole sum of half points: pairs as pairs, the rest as games.
  const paired = pairs.reduce((sum, count) => sum + count, 0);
  const variance = paired * varianceOf(pairs) + (games - 2 * paired) * varianceOf([losses, draws, wins]);
  const standardError = Math.sqrt(variance) / 2 / games;

  const low = score - Z95 * standardError;
  const high = score + Z95 * standardError;
  const bounded = variance > 0 && low > 0 && high < 1;
  return {
    score,
    elo: score > 0 && score < 1 ? eloOfScore(score) + 0 : null, // + 0 turns -0 into 0
    error: bounded ? (eloOfScore(high) - eloOfScore(low)) / 2 : null,
    normalized: variance > 0 ? (NORMALIZED_ELO_PER_T * (score - 0.5)) / (standardError * Math.sqrt(games)) + 0 : null,
    normalizedError: variance > 0 ? (NORMALIZED_ELO_PER_T * Z95) / Math.sqrt(games) : null,
    los: normalBelow(
      variance > 0 ? (score - 0.5) / standardError : (wins - losses) / Math.sqrt(Math.max(1, wins + losses)), // all pairs alike: each decided game as a toss-up
    ),
    drawRate: draws / games,
  };
}
