import { Match } from "#arena";
import { openRandom } from "#base";
import type { GameLabel } from "./events.js";
import { matchGame, pointsOf, readTags } from "./pgn-text.js";
import type { ContestSpec } from "./spec.js";

/** A game in a contest's file. */
export interface ListedGame extends GameLabel {
  result: string; // 1-0, 0-1 or 1/2-1/2
  reason: string; // in words
  termination: string; // PGN's word for it
  plies: number;
  llr: number | null; // of the test, after this game; null without a test, and after the first game of a pair
  llrStep: number | null; // how far the test moved by the pair that this game completed
}

const CHUNK = 1 << 20;

/** The games of a contest, read from its PGN as that grows. */
export class GameList {
  readonly games: ListedGame[] = [];
  private readonly places: { offset: number; length: number }[] = [];
  private readonly match: Match | undefined;
  private read = 0; // bytes that whole games take
  private pairs = 0;
  private llr = 0;

  constructor(
    private readonly path: string,
    { kind, games, sprt }: ContestSpec,
  ) {
    if (kind === "match" && sprt) this.match = new Match(games, sprt);
  }

  /** Reads what was added; a file that was cut is told by false: then a new list must be made. */
  async update(): Promise<boolean> {
    const file = await openRandom(this.path).catch(() => undefined);
    if (!file) return this.read === 0;
    try {
      if (file.size < this.read) return false;
      let wanted = CHUNK;
      while (this.read < file.size) {
        const length = Math.min(wanted, file.size - this.read);
        const found = this.take(new TextDecoder().decode(file.read(this.read, length)));
        if (found === 0 && length === file.size - this.read) break; // a game that is being written
        if (found === 0) wanted *= 2; // a game longer than that
      }
      return true;
    } finally {
      file.close();
    }
  }

  /** The way of the test, for each pair that was completed. */
  get llrPath(): { game: number; llr: number }[] {
    return this.games.flatMap(({ llr }, i) => (llr === null ? [] : [{ game: i + 1, llr }]));
  }

  /** The PGN of a game by its index in the contest; undefined if it was not played yet. */
  async text(index: number): Promise<string | undefined> {
    const at = this.games.findIndex((game) => game.index === index);
    if (at < 0) return undefined;
    const { offset, length } = this.places[at];
    const file = await openRandom(this.path);
    try {
      return new TextDecoder().decode(file.read(offset, length));
    } finally {
      file.close();
    }
  }

  /** Takes the whole games at the start of a text; returns how many there were. */
  private take(text: string): number {
    const before = this.games.length;
    for (let at = 0; ; ) {
      const game = matchGame(text, at);
      if (game === undefined) return this.games.length - before;
      const length = new TextEncoder().encode(game).length;
      this.places.push({ offset: this.read, length });
      this.games.push(this.listed(game));
      this.read += length;
      at += game.length;
    }
  }

  private listed(text: string): ListedGame {
    const tags = readTags(text);
    const tag = (name: string) => tags.get(name) ?? "";
    const index = Number(tag("GameIndex") || this.games.length);
    const game: ListedGame = {
      index,
      round: Number.parseInt(tag("Round"), 10) - 1,
      white: tag("White"),
      black: tag("Black"),
      result: tag("Result"),
      reason: tag("Reason"),
      termination: tag("Termination"),
      plies: Number(tag("PlyCount")),
      llr: null,
      llrStep: null,
    };
    const { match } = this;
    if (!match || index >= match.total) return game;
    match.add(match.game(index), pointsOf(game.result));
    const { pentanomial, sprt } = match.state();
    const pairs = pentanomial.reduce((sum, count) => sum + count, 0);
    if (!sprt || pairs === this.pairs) return game;
    const llrStep = sprt.llr - this.llr;
    this.pairs = pairs;
    this.llr = sprt.llr;
    return { ...game, llr: sprt.llr, llrStep };
  }
}
