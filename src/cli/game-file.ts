import { type FileHandle, open, readFile, truncate } from "node:fs/promises";
import { messageOf, UserError } from "#base";

/** A game found in the file of a contest that goes on. */
export interface SavedGame {
  index: number; // among all games of the contest
  white: string;
  black: string;
  result: string;
  reason: string;
}

const GAME = /\[Event "[\s\S]*?\n\n[\s\S]*?(?:^|\s)(1-0|0-1|1\/2-1\/2)\n\n/y;

/** The tags of a game's text. */
function readTags(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const [, name, value] of text.matchAll(/^\[(\w+) "((?:[^"\\]|\\.)*)"\]$/gm)) {
    tags.set(name, value.replace(/\\(.)/g, "$1"));
  }
  return tags;
}

/** What differs between two texts of settings, `name=value` by `name=value`, as a sentence; undefined if nothing does. */
function difference(found: string, wanted: string): string | undefined {
  const [before, now] = [found, wanted].map((text) => text.split("; "));
  const missing = before.filter((part) => !now.includes(part));
  const added = now.filter((part) => !before.includes(part));
  return missing.length + added.length === 0 ? undefined : `it has ${missing.join("; ")}, this run ${added.join("; ")}`;
}

/**
 * The PGN file of a contest, which is also its memory: a game is in it whole or not at all, each is on the disk before
 * the next is counted, and a contest that was killed goes on from it.
 */
export class GameFile {
  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    /** What was in the file before. */
    readonly saved: readonly SavedGame[],
    /** A game at the end of the file that was cut off and has been removed. */
    readonly mended: boolean,
  ) {}

  /** Opens the file for a contest with these settings; one that holds games is only taken with `resume`. */
  static async open(path: string, settings: string, resume: boolean): Promise<GameFile> {
    try {
      if (!resume) return new GameFile(path, await open(path, "ax"), [], false);
      const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") return "";
        throw error;
      });
      const { saved, length } = readSaved(path, text, settings);
      const mended = length < text.length;
      if (mended) await truncate(path, Buffer.byteLength(text.slice(0, length)));
      return new GameFile(path, await open(path, "a"), saved, mended);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") {
        throw new UserError(
          "GAMES_EXIST",
          `${path}: this file exists. Go on with its contest by --resume, or give --pgn another name.`,
        );
      }
      if (error instanceof UserError) throw error;
      throw new UserError("GAMES_FILE", `${path}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Adds a game; resolves when it is on the disk. */
  async append(text: string): Promise<void> {
    try {
      await this.handle.appendFile(text);
      await this.handle.datasync();
    } catch (error) {
      throw new UserError(
        "GAMES_FILE",
        `${this.path}: a game could not be saved (${messageOf(error)}). Mend that and go on by --resume.`,
        { cause: error },
      );
    }
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

function readSaved(path: string, text: string, settings: string): { saved: SavedGame[]; length: number } {
  const saved = new Map<number, SavedGame>();
  let length = 0;
  for (;;) {
    GAME.lastIndex = length;
    const game = GAME.exec(text);
    if (!game) break;
    const tags = readTags(game[0]);
    const index = Number(tags.get("GameIndex") ?? Number.NaN);
    const found = tags.get("Settings");
    if (!Number.isInteger(index) || found === undefined || saved.has(index)) {
      throw new UserError(
        "GAMES_FOREIGN",
        `${path}: game ${saved.size + 1} was not written by a contest of tabiya, or stands there twice. ` +
          "Only such a file can be resumed; give --pgn another name.",
      );
    }
    const other = difference(found, settings);
    if (other !== undefined) {
      throw new UserError(
        "GAMES_OTHER",
        `${path}: these games were played under other conditions: ${other}.\nRepeat the command that began the file, or give --pgn another name.`,
      );
    }
    const tag = (name: string) => tags.get(name) ?? "";
    saved.set(index, { index, white: tag("White"), black: tag("Black"), result: tag("Result"), reason: tag("Reason") });
    length = GAME.lastIndex;
  }
  if (text.indexOf("\n[Event ", length + 1) >= 0) {
    throw new UserError(
      "GAMES_DAMAGED",
      `${path}: game ${saved.size + 1} (byte ${Buffer.byteLength(text.slice(0, length))}) is damaged, and others follow it. Mend or remove it.`,
    );
  }
  return { saved: [...saved.values()], length };
}
