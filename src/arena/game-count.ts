import { type ContestGame, gameOfTwo } from "./pairing.js";
import type { Standings } from "./standings.js";

/** How the games of a contest ended, where nobody is compared. */
export interface GameCountState {
  kind: "games";
  games: number;
  white: number; // won by White
  draws: number;
  black: number; // won by Black
}

/** Games for their own sake, rated by nobody: of a player against itself, or of two with each opening both ways. */
export class GameCount implements Standings<GameCountState> {
  readonly decided = false;
  private readonly counts = { white: 0, draws: 0, black: 0 };

  constructor(
    readonly total: number,
    private readonly options: { alone: boolean }, // then each game has its own opening
  ) {}

  get rounds(): number {
    return this.options.alone ? this.total : Math.ceil(this.total / 2);
  }

  game(index: number): ContestGame {
    return this.options.alone ? { index, pair: index, round: index, white: 0, black: 1 } : gameOfTwo(index);
  }

  add(_: ContestGame, whitePoints: number): void {
    this.counts[whitePoints === 1 ? "white" : whitePoints === 0 ? "black" : "draws"]++;
  }

  state(): GameCountState {
    const { white, draws, black } = this.counts;
    return { kind: "games", games: white + draws + black, white, draws, black };
  }
}
