import type { Score } from "./elo.js";
import { type ContestGame, gauntlet, listGames, roundRobin } from "./pairing.js";
import { type Rating, ratePlayers } from "./ratings.js";
import type { Standings } from "./standings.js";
import { Tally } from "./tally.js";

/** A row of the table. */
export interface Ranked extends Rating {
  name: string;
}

/** How a tournament stands: ratings and results of each against each. */
export interface TournamentState {
  kind: "tournament";
  players: Ranked[]; // the best first
  bounded: boolean; // see Ratings
  crossTable: (Score | null)[][]; // in the order of `players`, from the row's view; null where two did not meet
}

/** Everybody against everybody, or the first against all others, every opening with both colours. */
export class Tournament implements Standings<TournamentState> {
  readonly rounds: number;
  readonly decided = false;
  private readonly games: readonly ContestGame[];
  private readonly tallies = new Map<string, { first: number; second: number; tally: Tally }>();

  constructor(
    private readonly names: readonly string[],
    { rounds, againstFirst }: { rounds: number; againstFirst: boolean },
  ) {
    const pairings = (againstFirst ? gauntlet : roundRobin)(names.length, rounds);
    this.rounds = rounds;
    this.games = listGames(pairings);
    for (const { first, second } of pairings) {
      const key = keyOf(first, second);
      if (!this.tallies.has(key)) this.tallies.set(key, { first, second, tally: new Tally() });
    }
  }

  get total(): number {
    return this.games.length;
  }

  game(index: number): ContestGame {
    return this.games[index];
  }

  add({ pair, white, black }: ContestGame, whitePoints: number): void {
    const meeting = this.tallies.get(keyOf(white, black));
    meeting?.tally.add(pair, white === meeting.first ? whitePoints : 1 - whitePoints);
  }

  state(): TournamentState {
    const encounters = [...this.tallies.values()].map(({ first, second, tally: { games, pairs } }) => ({
      first,
      second,
      games,
      pairs,
    }));
    const { players, bounded } = ratePlayers(this.names.length, encounters);
    const ranked = this.names
      .map((name, i) => ({ i, row: { name, ...players[i] } }))
      .sort((a, b) => b.row.rating - a.row.rating);
    return {
      kind: "tournament",
      players: ranked.map(({ row }) => row),
      bounded,
      crossTable: ranked.map(({ i }) => ranked.map((other) => this.between(i, other.i))),
    };
  }

  private between(row: number, column: number): Score | null {
    const meeting = this.tallies.get(keyOf(row, column));
    if (!meeting) return null;
    const { wins, draws, losses } = meeting.tally.games;
    return row === meeting.first ? { wins, draws, losses } : { wins: losses, draws, losses: wins };
  }
}

const keyOf = (a: number, b: number): string => `${Math.min(a, b)}-${Math.max(a, b)}`;
