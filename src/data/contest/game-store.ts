import { type GameRecord, resultOf } from "#arena";
import { UserError } from "#base";

/** A game that a store held before. */
export interface SavedGame {
  index: number; // among all games of the contest
  result: string; // 1-0, 0-1 or 1/2-1/2
  reason: string;
}

/** A game on its way into a store. */
export interface FinishedGame {
  index: number; // among all games of the contest, from 0
  round: number; // which opening, from 0
  event: string;
  white: string; // names, each player a different one
  black: string;
  timeControl?: string;
  record: GameRecord;
}

/** What a store held when it was opened, in the order in which the games ended. */
export interface Held {
  saved: readonly SavedGame[];
  note?: string; // for people
}

/** Where the games of a contest are kept; also the memory from which a contest that was stopped is resumed. */
export interface GameStore {
  /** Takes the store for a contest with these settings (see describeSettings) and tells what it held. */
  open(settings: string): Promise<Held>;
  /** Keeps a game; it is counted once this resolves. Calls do not overlap. */
  append(game: FinishedGame): Promise<void>;
  /** Called once after each `open`, however the contest ended. */
  close(): Promise<void>;
}

/** Keeps games in memory. */
export class MemoryStore implements GameStore {
  readonly games: FinishedGame[] = [];
  private settings: string | undefined;

  async open(settings: string): Promise<Held> {
    checkSettings("these games", this.settings ?? settings, settings);
    this.settings = settings;
    return {
      saved: this.games.map(({ index, record }) => ({ index, result: resultOf(record), reason: record.reason })),
    };
  }

  async append(game: FinishedGame): Promise<void> {
    this.games.push(game);
  }

  async close(): Promise<void> {}
}

/** Refuses games of other settings, and says what differs. */
export function checkSettings(where: string, found: string, wanted: string): void {
  const [before, now] = [found, wanted].map((text) => text.split("; "));
  const missing = before.filter((part) => !now.includes(part));
  const added = now.filter((part) => !before.includes(part));
  if (missing.length + added.length === 0) return;
  throw new UserError(
    "GAMES_OTHER",
    `${where}: these games were played under other conditions: it has ${missing.join("; ") || "nothing else"}, ` +
      `this run ${added.join("; ") || "nothing else"}.\nRepeat the settings that began it, or write to another file.`,
  );
}
