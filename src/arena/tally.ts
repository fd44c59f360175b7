import type { Pentanomial, Score } from "./elo.js";

/** Counts the games of two players and, once both its games are in, each pair. */
export class Tally {
  readonly games: Score = { wins: 0, draws: 0, losses: 0 };
  readonly pairs: Pentanomial = [0, 0, 0, 0, 0];
  pairCount = 0; // whole ones
  private readonly halves = new Map<number, number>(); // half points of pairs with one game still missing

  /** Adds a game of pair number `pair`; `points` are the first player's: 0, 0.5 or 1. */
  add(pair: number, points: number): void {
    this.games[points === 1 ? "wins" : points === 0 ? "losses" : "draws"]++;
    const other = this.halves.get(pair);
    if (other === undefined) this.halves.set(pair, 2 * points);
    else {
      this.halves.delete(pair);
      this.pairs[2 * points + other]++;
      this.pairCount++;
    }
  }
}
