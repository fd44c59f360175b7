import assert from "node:assert/strict";
import { test } from "vitest";
import { type SavedGame, SavedGames } from "./saved.js";

const game = (id: string): SavedGame => ({
  id,
  white: "You",
  black: "nnue",
  result: "1-0",
  plies: 60,
  date: "2026-01-01",
  pgn: "1. e4 ".repeat(100),
});

/** A storage with room for so many characters. */
class SmallStorage {
  readonly items = new Map<string, string>();
  constructor(private readonly room: number) {}
  getItem(key: string): string | null {
    return this.items.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    if (value.length > this.room) throw new Error("QuotaExceededError");
    this.items.set(key, value);
  }
}

test("when the storage is full the oldest games make room for the newest", () => {
  const storage = new SmallStorage(3000);
  const saved = new SavedGames(storage);
  for (let i = 0; i < 10; i++) saved.save(game(String(i)));
  assert.equal(saved.all[0].id, "9");
  assert.ok(saved.all.length < 5);
  assert.deepEqual(new SavedGames(storage).all, saved.all);
});

test("a storage without room for one game says so, and keeps it while the page is open", () => {
  const saved = new SavedGames(new SmallStorage(100));
  assert.throws(() => saved.save(game("a")), /no room left for games.*Save PGN/);
  assert.equal(saved.all.length, 1);
});
