// Ratings of many players from the games between them: the logistic ratings under which every player's expected points
// equal the points made (the maximum-likelihood estimate of Bradley and Terry 1952, a draw being half a win). The error
// bars come from how far the pairs of games really fell from expectation (the sandwich estimator of White 1982), so
// that draws and paired openings, which both make results less scattered, make them narrower.
import { assert, Z95 } from "#base";
import { type Pentanomial, type Score, scoreOfElo } from "./elo.js";

/** All games of two players; counts from the first one's view. */
export interface Encounter {
  first: number; // index of a player
  second: number;
  games: Readonly<Score>;
  pairs: Readonly<Pentanomial>;
}

/** The rating of a player among others, with its uncertainty. */
export interface Rating {
  rating: number; // Elo; the average of all players is 0
  error: number | null; // half the 95 % interval, against the average of the others; null before there is any spread
  games: number;
  score: number; // points
}

/** The ratings of all players of a tournament. */
export interface Ratings {
  players: Rating[];
  /**
   * Whether somebody won or lost everything against the rest, so that the likeliest rating is infinite. Then a drawn
   * game against an average player is added for each, and the ratings are the least we can say.
   */
  bounded: boolean;
}

const POINT = Math.LN10 / 400; // slope of the logistic curve: d score / d elo = POINT * score * (1 - score)

const TIE = 1e-6;

/** Solves a * x = b for a symmetric positive definite matrix, each column of `b` by itself (Gauss-Jordan). */
function solve(a: number[][], b: number[][]): number[][] {
  const n = a.length;
  const rows = a.map((row, i) => [...row, ...b[i]]);
  for (let i = 0; i < n; i++) {
    const pivot = rows[i][i];
    assert(pivot > 0, "the matrix of a rating list is positive definite");
    for (let k = i; k < rows[i].length; k++) rows[i][k] /= pivot;
    for (let j = 0; j < n; j++) {
      const factor = j === i ? 0 : rows[j][i];
      if (factor !== 0) for (let k = i; k < rows[j].length; k++) rows[j][k] -= factor * rows[i][k];
    }
  }
  return rows.map((row) => row.slice(n));
}

/** Whether everybody can be reached from everybody by steps "took points from": Ford's condition for finite ratings. */
function haveFiniteRatings(count: number, encounters: readonly Encounter[]): boolean {
  const reach = (forward: boolean) => {
    const seen = new Set([0]);
    for (const player of seen) {
      for (const { first, second, games } of encounters) {
        const firstScored = games.wins + games.draws > 0;
        const secondScored = games.losses + games.draws > 0;
        if (player === first && (forward ? firstScored : secondScored)) seen.add(second);
        if (player === second && (forward ? secondScored : firstScored)) seen.add(first);
      }
    }
    return seen.size === count;
  };
  return reach(true) && reach(false);
}

/** Sum of squared distances between the points of a pair (or game) and what was expected of it. */
function scatter({ games, pairs }: Encounter, expected: number): number {
  const { wins, draws, losses } = games;
  const paired = pairs.reduce((sum, count) => sum + count, 0);
  const total = wins + draws + losses;
  const single = wins * (1 - expected) ** 2 + draws * (0.5 - expected) ** 2 + losses * expected ** 2;
  return (
    pairs.reduce((sum, count, half) => sum + count * (half / 2 - 2 * expected) ** 2, 0) +
    (total === 0 ? 0 : (single / total) * (total - 2 * paired))
  );
}

/** Rates players 0 .. count-1. */
export function ratePlayers(count: number, encounters: readonly Encounter[]): Ratings {
  const ratings = new Array<number>(count).fill(0);
  const points = new Array<number>(count).fill(0);
  const played = new Array<number>(count).fill(0);
  for (const { first, second, games } of encounters) {
    const total = games.wins + games.draws + games.losses;
    points[first] += games.wins + games.draws / 2;
    points[second] += games.losses + games.draws / 2;
    played[first] += total;
    played[second] += total;
  }
  const bounded = !haveFiniteRatings(count, encounters);
  const prior = bounded ? 1 : 0; // drawn games against an average player, for each

  /** How far expectation lags behind the points, and how fast it rises, at the present ratings. */
  const derivatives = () => {
    const lag = points.map((sum, i) => sum + prior * (0.5 - scoreOfElo(ratings[i])));
    const slope = ratings.map((rating, i) => {
      const p = scoreOfElo(rating);
      // A constant everywhere ties the sum of the ratings down without touching their differences.
      return ratings.map((_, j) => TIE + (i === j ? prior * POINT * p * (1 - p) : 0));
    });
    for (const { first, second, games } of encounters) {
      const total = games.wins + games.draws + games.losses;
      const p = scoreOfElo(ratings[first] - ratings[second]);
      const weight = total * POINT * p * (1 - p);
      lag[first] -= total * p;
      lag[second] -= total * (1 - p);
      slope[first][first] += weight;
      slope[second][second] += weight;
      slope[first][second] -= weight;
      slope[second][first] -= weight;
    }
    return { lag, slope };
  };

  for (let round = 0; round < 500; round++) {
    const { lag, slope } = derivatives();
    const step = solve(
      slope,
      lag.map((value) => [value]),
    ).map(([value]) => value);
    // Newton's step, shortened while far away, where the curve is too flat to be trusted
    const longest = Math.max(...step.map(Math.abs));
    const scale = Math.min(1, 200 / longest);
    for (let i = 0; i < count; i++) ratings[i] += scale * step[i];
    if (longest < 1e-9) break;
  }
  const average = ratings.reduce((sum, rating) => sum + rating, 0) / count;
  const errors = ratingErrors(ratings, encounters, derivatives().slope);
  return {
    bounded,
    players: ratings.map((rating, i) => ({
      rating: rating - average + 0,
      error: errors[i],
      games: played[i],
      score: points[i],
    })),
  };
}

function ratingErrors(ratings: number[], encounters: readonly Encounter[], slope: number[][]): (number | null)[] {
  const count = ratings.length;
  const middle = ratings.map(() => new Array<number>(count).fill(0));
  let units = 0;
  for (const encounter of encounters) {
    const { first, second, games, pairs } = encounter;
    const spread = scatter(encounter, scoreOfElo(ratings[first] - ratings[second]));
    const paired = pairs.reduce((sum, n) => sum + n, 0);
    units += games.wins + games.draws + games.losses - paired;
    middle[first][first] += spread;
    middle[second][second] += spread;
    middle[first][second] -= spread;
    middle[second][first] -= spread;
  }
  if (units < count) return ratings.map(() => null);
  const half = solve(slope, middle);
  const covariance = solve(
    slope,
    half.map((_, i) => half.map((row) => row[i])),
  );
  const correction = units / (units - count + 1); // as many degrees of freedom went into the ratings
  return covariance.map((row, i) => {
    const variance = row[i] * correction;
    return variance > 1e-12 ? Z95 * Math.sqrt(variance) : null;
  });
}
