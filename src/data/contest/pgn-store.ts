import { formatRecord, formatTimeControl, parseTimeControl } from "#arena";
import { AppendFile, readText, removeFile, UserError } from "#base";
import { checkSettings, type FinishedGame, type GameStore, type Held, type SavedGame } from "./game-store.js";
import { matchGame, readTags } from "./pgn-text.js";

/**
 * A PGN file as the store of a contest: a game is in it whole or not at all, each is on the disk before it is counted, and a
 * contest that was killed is resumed from it.
 */
export class PgnStore implements GameStore {
  private file: AppendFile | undefined;
  private settings = "";
  private isEmpty = false; // begun here, and still without a game

  constructor(
    readonly path: string,
    /** Without it, a file that exists is refused; with it, a file that does not exist is begun. */
    private readonly options: { resume?: boolean } = {},
  ) {}

  async open(settings: string): Promise<Held> {
    this.settings = settings;
    if (!this.options.resume) {
      this.file = await AppendFile.open(this.path, "new").catch((error: UserError) => {
        if (error.code !== "FILE_EXISTS") throw error;
        throw new UserError(
          "GAMES_EXIST",
          `${this.path}: this file exists. Resume its contest, or write to another file.`,
        );
      });
      this.isEmpty = true;
      return { saved: [] };
    }
    const text = await readText(this.path).catch((error: UserError) => {
      if (error.code === "FILE_MISSING") return "";
      throw error;
    });
    const { saved, length } = readSaved(this.path, text, settings);
    this.file = await AppendFile.open(this.path, byteLength(text.slice(0, length)));
    const note = length < text.length ? `${this.path}: the last game was cut off; it is played again.` : undefined;
    return { saved, note };
  }

  async append({ index, round, event, white, black, timeControl, record }: FinishedGame): Promise<void> {
    const text = formatRecord(
      record,
      [
        ["Event", event],
        ["Site", "?"],
        ["Date", new Date().toISOString().slice(0, 10).replaceAll("-", ".")],
        ["Round", `${round + 1}.${(index % 2) + 1}`],
        ["White", white],
        ["Black", black],
      ],
      [
        ["TimeControl", timeControl === undefined ? "-" : formatTimeControl(parseTimeControl(timeControl))],
        ["GameIndex", String(index)],
        ["Settings", this.settings],
      ],
    );
    await this.file?.append(text);
    this.isEmpty = false;
  }

  /** A file that came to nothing goes again: it would be in the way of the next try, which may only name a player right. */
  async close(): Promise<void> {
    await this.file?.close();
    if (this.file && this.isEmpty) await removeFile(this.path);
    this.file = undefined;
  }
}

const byteLength = (text: string): number => new TextEncoder().encode(text).length;

/** The games of a contest's file, and how many characters of it they are. */
function readSaved(path: string, text: string, settings: string): { saved: SavedGame[]; length: number } {
  const saved = new Map<number, SavedGame>();
  let length = 0;
  for (;;) {
    const game = matchGame(text, length);
    if (game === undefined) break;
    const tags = readTags(game);
    const index = Number(tags.get("GameIndex") ?? Number.NaN);
    const found = tags.get("Settings");
    if (!Number.isInteger(index) || found === undefined || saved.has(index)) {
      throw new UserError(
        "GAMES_FOREIGN",
        `${path}: game ${saved.size + 1} was not written by a contest of tabiya, or stands there twice. ` +
          "Only such a file can be resumed; write to another file.",
      );
    }
    checkSettings(path, found, settings);
    saved.set(index, { index, result: tags.get("Result") ?? "", reason: tags.get("Reason") ?? "" });
    length += game.length;
  }
  if (text.indexOf("\n[Event ", length + 1) >= 0) {
    throw new UserError(
      "GAMES_DAMAGED",
      `${path}: game ${saved.size + 1} (byte ${byteLength(text.slice(0, length))}) is damaged, and others follow it. Repair or remove it.`,
    );
  }
  return { saved: [...saved.values()], length };
}
