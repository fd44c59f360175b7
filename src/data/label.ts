import { Journal, messageOf, openBytes, openRandom, readLines, UserError } from "#base";
import { clampScore, formatFen, formatUci, type Position, parseFen, parseScore, winProbability } from "#chess";
import { type Line, type Player, PlayerFault } from "#engine";
import { BAG_KINDS, type BagKind, createRecords, type DataRecord, formatOf, openRecords } from "#formats";
import type { Limits } from "#search";
import { KeyTable } from "./key-table.js";

export interface LabelOptions {
  create(): Promise<Player>; // starts another process of the engine
  engine: string; // its command, for the journal
  limits: Limits; // for each position
  allMoves: boolean; // value every legal move, not only the position
  kind?: BagKind; // of the records, for Bagz
  processes: number;
  signal: AbortSignal;
  onProgress(state: { done: number; total: number | undefined; labelled: number }): void;
  onTrouble(message: string): void; // a process that failed, a position that was given up
}

export interface LabelResult {
  positions: number; // in the input
  labelled: number; // by the engine in this run
  cached: number; // known from an earlier run, or the same as another position
  failed: number; // left out, after two attempts
  over: number; // left out, as the game is over there
  written: number; // records
}

const ATTEMPTS = 2; // at a position before it is given up
const STARTS = 3; // failed starts in a row, after which there is no point in going on

/** What an engine said of a position; also a line of the journal, with the position's key. */
interface Label {
  key: string;
  move?: string;
  score?: number;
  moves?: Record<string, number | string>;
}

/** Where the labels wait until all are there. */
export const journalPath = (to: string): string => `${to}.labels`;

/**
 * Lets engines value the positions of a file. Every label goes to a journal at once, so that after a kill the same call
 * goes on without asking again; positions with the same key are asked once. The output is written when all is known, in the
 * order of the input. An engine forgets everything between two positions, so that labels do not depend on their order.
 */
export async function labelPositions(from: string, to: string, options: LabelOptions): Promise<LabelResult> {
  const known = new KeyTable();
  const journal = await openJournal(to, options, known);
  const result: LabelResult = { positions: 0, labelled: 0, cached: 0, failed: 0, over: 0, written: 0 };
  try {
    await askAll(from, journal, known, options, result);
  } finally {
    await journal.close();
  }
  await writeLabelled(from, to, journal.path, known, options, result);
  await journal.remove();
  return result;
}

async function openJournal(to: string, { engine, limits, allMoves }: LabelOptions, known: KeyTable): Promise<Journal> {
  const header = JSON.stringify({ labels: 1, engine, limits, allMoves });
  const path = journalPath(to);
  let lines = 0;
  const journal = await Journal.open(path, (line, byte) => {
    if (lines++ === 0) {
      if (line === header) return;
      throw new UserError(
        "LABEL_OTHER",
        `${path}: these labels were made otherwise: ${line}\nThis run asks for ${header}.\nRepeat the first command, or delete that file to begin anew.`,
      );
    }
    const [low, high] = halves(BigInt(`0x${/^\{"key":"([0-9a-f]+)"/.exec(line)?.[1] ?? "0"}`));
    known.add(low, high, byte);
  });
  if (lines === 0) await journal.append(header);
  return journal;
}

const halves = (key: bigint): [number, number] => [Number(key & 0xffffffffn), Number(key >> 32n)];

/** Positions of a file of records, or of a text with one FEN a line. */
async function* readPositions(path: string): AsyncGenerator<{
  records: DataRecord[];
  done: number; // of `total`, before these
  each: number; // what a record adds to it
  total?: number;
}> {
  if (/\.(epd|fen|txt)(\.(zst|gz|bz2))?$/i.test(path)) {
    const source = await openBytes(path);
    for await (const line of readLines(source, path)) {
      const [board, side, castling, ep, clock, number] = line.trim().split(/\s+/);
      if (!board || board.startsWith("#")) continue;
      const counted = /^\d+$/.test(clock ?? "") && /^\d+$/.test(number ?? "");
      const fen = [board, side, castling, ep, counted ? clock : "0", counted ? number : "1"].join(" ");
      yield { records: [{ fen }], done: source.bytesRead, each: 0, total: source.size };
    }
    return;
  }
  const reader = await openRecords(path);
  let read = 0;
  for await (const records of reader) {
    yield reader.records === undefined
      ? { records, done: reader.bytesRead, each: 0, total: reader.size }
      : { records, done: read, each: 1, total: reader.records };
    read += records.length;
  }
}

const positionOf = (fen: string): Position => parseFen(fen, { chess960: /^\S+ \S+ (?=\S*[a-jA-J])\S+/.test(fen) });

async function askAll(
  from: string,
  journal: Journal,
  known: KeyTable,
  options: LabelOptions,
  result: LabelResult,
): Promise<void> {
  const { signal } = options;
  const asked = new KeyTable(); // known, on its way, or given up
  const questions = (async function* () {
    for await (const { records, done, each, total } of readPositions(from)) {
      for (const [i, { fen }] of records.entries()) {
        signal.throwIfAborted();
        const position = positionOf(fen);
        const [low, high] = halves(position.key);
        result.positions++;
        options.onProgress({ done: done + i * each, total, labelled: result.labelled });
        if (known.get(low, high) !== undefined || !asked.add(low, high)) result.cached++;
        else if (position.moves().length === 0) result.over++;
        else yield position;
      }
    }
  })();
  let appended: Promise<unknown> = Promise.resolve();
  const keep = (label: Label, position: Position) => {
    const writing = appended.then(() => journal.append(JSON.stringify(label)));
    appended = writing.catch(() => {}); // seen by whoever waits for it
    return writing.then((byte) => {
      const [low, high] = halves(position.key);
      known.add(low, high, byte);
      result.labelled++;
    });
  };
  // One question at a time is taken from the file, whoever asks for it.
  let taking: Promise<IteratorResult<Position>> = Promise.resolve({ done: false, value: undefined as never });
  const next = () => (taking = taking.then((last) => (last.done ? last : questions.next())));
  let failure: unknown;
  const process = async () => {
    const engine = new Engine(options);
    try {
      for (let question = await next(); !question.done && failure === undefined; question = await next()) {
        signal.throwIfAborted();
        const label = await engine.ask(question.value);
        if (label) await keep(label, question.value);
        else result.failed++;
      }
    } catch (error) {
      failure ??= error;
    } finally {
      await engine.close();
    }
  };
  await Promise.all(Array.from({ length: options.processes }, process));
  await questions.return(undefined);
  if (failure !== undefined) throw signal.aborted ? signal.reason : failure;
}

/** One process of the engine, started again when it fails. */
class Engine {
  private player: Player | undefined;
  private starts = 0; // failed, in a row
  private hasStarted = false;

  constructor(private readonly options: LabelOptions) {}

  /** What it says of a position; undefined if it failed at it again and again. */
  async ask(position: Position): Promise<Label | undefined> {
    const { onTrouble, signal } = this.options;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        return await this.attempt(position);
      } catch (error) {
        if (!(error instanceof PlayerFault)) throw error;
        await this.close();
        if (signal.aborted) throw signal.reason;
        onTrouble(`${error.message} (${attempt === ATTEMPTS ? "given up" : "asked again"}: ${formatFen(position)})`);
      }
    }
    return undefined;
  }

  private async attempt(position: Position): Promise<Label> {
    const { limits, allMoves, signal } = this.options;
    const player = (this.player ??= await this.start());
    let stop = () => {};
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason);
    });
    stopped.catch(() => {}); // it may come between two questions
    signal.addEventListener("abort", stop, { once: true });
    try {
      signal.throwIfAborted();
      await Promise.race([player.newGame(), stopped]);
      const legal = position.moves();
      const asked = player.choose(position, { ...limits, multiPv: allMoves ? legal.length : 1 });
      asked.catch(() => {}); // if it is stopped, nobody waits for it
      const choice = await Promise.race([asked, stopped]);
      const key = position.key.toString(16);
      if (allMoves) return { key, moves: valuesOf(choice.lines, position, legal.length) };
      const scoreCp = choice.lines[0]?.scoreCp;
      if (scoreCp === undefined) throw new PlayerFault("illegal move", "gave no score.");
      return { key, move: formatUci(position, choice.move), score: clampScore(Math.round(scoreCp)) };
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  private async start(): Promise<Player> {
    try {
      const player = await this.options.create();
      this.starts = 0;
      this.hasStarted = true;
      return player;
    } catch (error) {
      // What never started is the user's mistake, what started before is the engine's.
      if (!this.hasStarted || ++this.starts >= STARTS) throw error;
      throw new PlayerFault("crash", messageOf(error));
    }
  }

  async close(): Promise<void> {
    const { player } = this;
    this.player = undefined;
    await player?.close();
  }
}

/** Every legal move with its value: centipawns, or "#n" for a mate in n moves. */
function valuesOf(lines: readonly Line[], position: Position, legal: number): Record<string, number | string> {
  const moves: Record<string, number | string> = {};
  for (const { pv, scoreCp, mate } of lines) {
    const value = mate === undefined ? scoreCp : `#${mate}`;
    if (pv[0] !== undefined && value !== undefined) moves[pv[0]] = value;
  }
  const count = Object.keys(moves).length;
  if (count !== legal) {
    throw new PlayerFault(
      "illegal move",
      `valued ${count} of the ${legal} moves of ${formatFen(position)}; more nodes may help.`,
    );
  }
  return moves;
}

async function writeLabelled(
  from: string,
  to: string,
  journal: string,
  known: KeyTable,
  { kind, allMoves, signal }: LabelOptions,
  result: LabelResult,
): Promise<void> {
  const labels = await openRandom(journal);
  const writer = await createRecords(to, { kind });
  try {
    for await (const { records } of readPositions(from)) {
      signal.throwIfAborted();
      const labelled: DataRecord[] = [];
      for (const record of records) {
        const byte = known.get(...halves(positionOf(record.fen).key));
        if (byte !== undefined) labelled.push(...recordsOf(record, readLabel(labels, byte), kind, allMoves));
      }
      await writer.write(labelled);
      result.written += labelled.length;
    }
    await writer.commit();
  } catch (error) {
    await writer.abort();
    throw error;
  } finally {
    labels.close();
  }
}

function readLabel(journal: { size: number; read(offset: number, length: number): Uint8Array }, byte: number): Label {
  for (let length = 512; ; length *= 4) {
    const bytes = journal.read(byte, Math.min(length, journal.size - byte));
    const end = bytes.indexOf(10);
    if (end >= 0) return JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as Label;
  }
}

/** What becomes of a position and its label. */
function recordsOf(record: DataRecord, label: Label, kind: BagKind | undefined, allMoves: boolean): DataRecord[] {
  const { fen } = record;
  const { move = "", score = 0, moves = {} } = label;
  if (allMoves) {
    if (kind === undefined) return [{ fen, moves }];
    return Object.entries(moves).map(([uci, value]) => ({
      fen,
      move: uci,
      win_prob: winProbability(parseScore(value)!),
    }));
  }
  if (kind === "behavioral_cloning") return [{ fen, move }];
  if (kind === "state_value") return [{ fen, win_prob: winProbability(score) }];
  if (kind === "action_value") return [{ fen, move, win_prob: winProbability(score) }];
  const [, side, , , , number = "1"] = fen.split(" ");
  const ply = record.ply ?? 2 * (Math.max(1, Number(number)) - 1) + (side === "b" ? 1 : 0);
  return [{ fen, move, score, ply, result: record.result ?? 0 }];
}

/** Refuses what the output could not hold, before an engine has thought for hours. */
export function checkLabelOutput(to: string, allMoves: boolean, kind: BagKind | undefined): void {
  const format = formatOf(to);
  if (format === "bag" || format === "bagz") {
    if (kind !== undefined && (!allMoves || kind === "action_value")) return;
    throw new UserError(
      "LABEL_KIND",
      `${to}: say with --kind which records to make: ${allMoves ? "action_value" : BAG_KINDS.join(", ")}.`,
    );
  }
  if (kind !== undefined) throw new UserError("LABEL_KIND", `${to}: --kind is for .bag and .bagz.`);
  if (allMoves && format !== "jsonl" && format !== "parquet") {
    throw new UserError("LABEL_KIND", `${to}: values of all moves fit into .jsonl, .parquet, .bag or .bagz.`);
  }
}
