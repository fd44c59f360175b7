import { commitAll } from "#base";
import { formatFen, formatUci, parseFen } from "#chess";
import { createRecords, type DataRecord, type RecordWriter } from "#formats";
import { hashGame } from "../select.js";
import { validationPath } from "../split.js";
import type { FinishedGame, GameStore, Held } from "./game-store.js";

/**
 * Keeps of each game the positions in which a player chose: move, score, ply and result, as records to learn from. It
 * remembers nothing between two runs: `commit` gives the files their names, `abort` leaves nothing.
 */
export class RecordStore implements GameStore {
  private constructor(
    readonly paths: readonly string[], // the second for validation, if any
    private readonly writers: readonly RecordWriter[],
    private readonly validation: number, // share of the games
    private readonly seed: number, // decides which games
  ) {}

  static async create(path: string, { validation, seed }: { validation: number; seed: number }): Promise<RecordStore> {
    const paths = validation > 0 ? [path, validationPath(path)] : [path];
    const writers: RecordWriter[] = [];
    for (const each of paths) writers.push(await createRecords(each));
    return new RecordStore(paths, writers, validation, seed);
  }

  async open(): Promise<Held> {
    return { saved: [] };
  }

  async append({ record: { startFen, chess960, moves, winner } }: FinishedGame): Promise<void> {
    const position = parseFen(startFen, { chess960 });
    const records: DataRecord[] = [];
    for (const [ply, { move, thought }] of moves.entries()) {
      const result = winner === undefined ? 0 : winner === position.turn ? 1 : -1;
      const fen = formatFen(position);
      const uci = formatUci(position, move);
      if (thought) records.push({ fen, move: uci, score: thought.lines[0]?.scoreCp ?? 0, ply, result }); // not of the opening
      position.play(move);
    }
    const words = Uint16Array.from(moves, ({ move }) => move);
    const held = hashGame(words, this.seed) < this.validation * 2 ** 32; // as an import decides
    await this.writers[held ? 1 : 0].write(records);
  }

  async close(): Promise<void> {}

  async commit(): Promise<void> {
    await commitAll(this.writers.toReversed());
  }

  async abort(): Promise<void> {
    for (const writer of this.writers) await writer.abort();
  }
}
