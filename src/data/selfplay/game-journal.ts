import { Journal, openRandom, readLineAt } from "#base";
import { otherWork } from "../ask.js";
import type { SelfPlayGame } from "./game.js";
import type { SelfPlaySpec } from "./spec.js";

/** What has been played so far. */
export interface SelfPlayCounts {
  games: number;
  positions: number; // to learn from
  plies: number; // that the player chose
  wins: number; // of White
  draws: number;
  losses: number;
  cut: number; // draws that are none: games ended by their length
  /** Of the games played on against the rules of adjudication: how often these would have been right, and how often wrong. */
  adjudications: { right: number; wrong: number };
}

/** Games that wait beside the output until all are there: after a kill, no finished game is lost. */
export class GameJournal {
  readonly counts: SelfPlayCounts = {
    games: 0,
    positions: 0,
    plies: 0,
    wins: 0,
    draws: 0,
    losses: 0,
    cut: 0,
    adjudications: { right: 0, wrong: 0 },
  };
  private readonly bytes = new Map<number, number>(); // where the line of each game begins
  private journal!: Journal;
  private written: Promise<unknown> = Promise.resolve();

  private constructor(private readonly games: number) {}

  static async open(to: string, spec: SelfPlaySpec): Promise<GameJournal> {
    const { games, ...rest } = spec; // there may be more of them, the next time
    const header = JSON.stringify({ selfplay: 1, ...rest });
    const own = new GameJournal(games);
    const path = `${to}.games`;
    own.journal = await Journal.open({
      path,
      header,
      onLine: (line, byte) => own.count(JSON.parse(line) as SelfPlayGame, byte),
      refuse: (found) => otherWork("SELFPLAY_OTHER", `${path}: these games were played otherwise`, found, header),
    });
    return own;
  }

  private count({ game, positions, moves, opening, result, isCut, adjudication }: SelfPlayGame, byte: number): void {
    if (this.bytes.has(game) || game >= this.games) return;
    this.bytes.set(game, byte);
    const { counts } = this;
    counts.games++;
    counts.positions += positions.length;
    counts.plies += moves.length - opening;
    counts[result > 0 ? "wins" : result < 0 ? "losses" : "draws"]++;
    if (isCut) counts.cut++;
    if (adjudication) counts.adjudications[adjudication]++;
  }

  /** Games that are still to be played. */
  *missing(): Generator<number> {
    for (let game = 0; game < this.games; game++) if (!this.bytes.has(game)) yield game;
  }

  /** Keeps a game, once. Calls may overlap. */
  append(game: SelfPlayGame): Promise<void> {
    const writing = this.written.then(async () => {
      if (!this.bytes.has(game.game)) this.count(game, await this.journal.append(JSON.stringify(game)));
    });
    this.written = writing.catch(() => {}); // heard by whoever waits for it
    return writing;
  }

  /** The games in the order of their numbers. */
  async *read(): AsyncGenerator<SelfPlayGame> {
    const file = await openRandom(this.journal.path);
    try {
      for (let game = 0; game < this.games; game++) {
        const byte = this.bytes.get(game);
        if (byte !== undefined) yield JSON.parse(readLineAt(file, byte)) as SelfPlayGame;
      }
    } finally {
      file.close();
    }
  }

  close(): Promise<void> {
    return this.journal.close();
  }

  remove(): Promise<void> {
    return this.journal.remove();
  }
}
