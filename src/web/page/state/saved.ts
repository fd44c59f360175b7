import { UserError } from "#base";
import { Store } from "./store.js";

/** A game that was kept, as PGN with what a list shows of it. */
export interface SavedGame {
  id: string;
  white: string;
  black: string;
  result: string;
  plies: number;
  date: string; // ISO
  pgn: string;
}

const KEY = "tabiya-games";
const MOST = 100;

/** Games kept in the browser, the newest first. */
export class SavedGames extends Store {
  all: readonly SavedGame[] = [];

  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem"> | undefined) {
    super();
    try {
      const found: unknown = JSON.parse(storage?.getItem(KEY) ?? "[]");
      if (Array.isArray(found)) this.all = found.filter((each) => typeof each?.pgn === "string");
    } catch {
      // Damaged: begin anew.
    }
  }

  /** Keeps a game, in place of its earlier state; throws in words if there is no room. */
  save(game: SavedGame): void {
    this.all = [game, ...this.all.filter(({ id }) => id !== game.id)].slice(0, MOST);
    this.write();
  }

  remove(id: string): void {
    this.all = this.all.filter((game) => game.id !== id);
    this.write();
  }

  private write(): void {
    try {
      this.storage?.setItem(KEY, JSON.stringify(this.all));
    } catch {
      // The storage is full: the oldest games make room.
      if (this.all.length > 1) {
        this.all = this.all.slice(0, Math.floor(this.all.length / 2));
        this.write();
        return;
      }
      this.changed();
      throw new UserError(
        "STORAGE_FULL",
        "This browser has no room left for games: this one is lost when the page is closed. Save it with Save PGN.",
      );
    }
    this.changed();
  }
}
