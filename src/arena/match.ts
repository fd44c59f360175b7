import { estimate, type Pentanomial } from "./elo.js";
import { type ContestGame, gameOfTwo } from "./pairing.js";
import { type SprtConfig, type SprtState, sprt, sprtGames } from "./sprt.js";
import type { Standings } from "./standings.js";
import { Tally } from "./tally.js";

/** Where a match stands, from the first player's view. */
export interface MatchState {
  kind: "match";
  wins: number;
  draws: number;
  losses: number;
  score: number; // share of the points, 0..1
  elo: number | null; // null if infinite
  error: number | null; // half the 95 % interval, in Elo
  normalized: number | null; // normalised Elo; null if all games ended alike
  normalizedError: number | null;
  los: number; // likelihood of superiority, 0..1
  drawRate: number;
  pentanomial: Pentanomial; // pairs by points: 0, 1/2, 1, 3/2, 2
  sprt: SprtState | null; // null without a test
}

/** The test after so many pairs. */
export interface LlrPoint {
  pairs: number;
  llr: number;
}

const PATH_POINTS = 1_000; // kept of the way of a test, at most; then every second is dropped

/** Two players, every opening with both colours; with a test, until that is decided. */
export class Match implements Standings<MatchState> {
  readonly total: number;
  decided = false;
  private readonly tally = new Tally();
  private path: LlrPoint[] = [];
  private pathStep = 1; // pairs between two points of the path

  constructor(
    games: number | undefined, // in all; by default 100, or what nearly every test is decided in
    private readonly test?: SprtConfig,
  ) {
    this.total = games ?? (test ? sprtGames(test) : 100);
  }

  get rounds(): number {
    return Math.ceil(this.total / 2);
  }

  game(index: number): ContestGame {
    return gameOfTwo(index);
  }

  add({ pair, white }: ContestGame, whitePoints: number): void {
    const before = this.tally.pairCount;
    this.tally.add(pair, white === 0 ? whitePoints : 1 - whitePoints);
    if (!this.test || this.tally.pairCount === before) return;
    const { llr, result } = sprt(this.tally.pairs, this.test);
    this.decided ||= result !== "undecided";
    this.addToPath(llr);
  }

  /** How the log-likelihood ratio moved, pair by pair or, in a long test, every few pairs. */
  get llrPath(): readonly LlrPoint[] {
    return this.path;
  }

  private addToPath(llr: number): void {
    const pairs = this.tally.pairCount;
    if (pairs % this.pathStep === 0 || this.decided) this.path.push({ pairs, llr });
    if (this.path.length <= PATH_POINTS) return;
    this.pathStep *= 2;
    this.path = this.path.filter((point) => point.pairs % this.pathStep === 0);
  }

  state(): MatchState {
    const { games, pairs } = this.tally;
    return {
      kind: "match",
      ...games,
      ...estimate(games, pairs),
      pentanomial: [...pairs],
      sprt: this.test ? sprt(pairs, this.test) : null,
    };
  }
}
