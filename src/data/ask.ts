// Players asked about the positions of a file: what labels and variations have in common.
import { atPlace, Journal, messageOf, openBytes, openRandom, readLineAt, readLines, UserError } from "#base";
import { formatFen, type Position, parseFen } from "#chess";
import { type Choice, type Player, PlayerFault } from "#engine";
import { type BagKind, createRecords, type DataRecord, openRecords, refuseOther } from "#formats";
import type { Limits } from "#search";
import { KeyTable } from "./key-table.js";

/** What is asked of positions; the answers are plain data. */
export interface Question<A extends object> {
  multiPv(legal: number): number; // lines to ask for where there are so many moves
  /** What is kept of a choice; throws a PlayerFault if something is missing. */
  answerOf(choice: Choice, position: Position): A;
}

/** A question, and what becomes of its answers. */
interface Survey<A extends object> extends Question<A> {
  header: object; // tells this question from others in the journal
  recordsOf(record: DataRecord, answer: A): DataRecord[];
}

/** Who answers, and how long it may think. */
export interface Answering {
  create(): Promise<Player>; // starts another process of the engine
  limits: Limits; // for each position
  signal: AbortSignal;
  onTrouble(message: string): void; // a process that failed, a position that was given up
}

export interface AskOptions extends Answering {
  kind?: BagKind; // of the records, for Bagz
  processes: number;
  elsewhere?: AskElsewhere; // instead of processes of ours
  onProgress(state: { done: number; total: number | undefined; labelled: number }): void;
}

/** Others who answer, for many positions at a time. */
export interface AskElsewhere {
  batch: number; // positions worth asking about together
  batches: number; // under way at the same time
  /** Answers in the order of the positions; undefined for one that was given up. */
  ask(fens: readonly string[], signal: AbortSignal): Promise<(object | undefined)[]>;
}

export interface AskResult {
  positions: number; // in the input
  labelled: number; // answered by the engine in this run
  cached: number; // known from an earlier run, or the same as another position
  failed: number; // left out, after two attempts
  over: number; // left out, as the game is over there
  written: number; // records
}

const ATTEMPTS = 2; // at a position before it is given up
const STARTS = 3; // failed starts in a row, after which there is no point in going on

/** Where the labels wait until all are there. */
export const journalPath = (to: string): string => `${to}.labels`;

/**
 * Lets engines answer a question about the positions of a file. Every answer goes to a journal at once, so that after a kill the same call
 * goes on without asking again; positions with the same key are asked once. The output is written when all is known, in the
 * order of the input. An engine forgets everything between two positions, so that labels do not depend on their order.
 */
export async function askPositions<A extends object>(
  from: string,
  to: string,
  question: Survey<A>,
  options: AskOptions,
): Promise<AskResult> {
  const known = new KeyTable();
  const journal = await openJournal(to, question, known);
  const result: AskResult = { positions: 0, labelled: 0, cached: 0, failed: 0, over: 0, written: 0 };
  try {
    await askAll(from, journal, known, question, options, result);
    if (known.size === 0) throw nothingAnswered(from);
  } finally {
    await journal.close();
  }
  await writeAnswered(from, to, journal.path, known, question, options, result);
  await journal.remove();
  return result;
}

function openJournal(to: string, question: { header: object }, known: KeyTable): Promise<Journal> {
  const path = journalPath(to);
  const header = JSON.stringify(question.header);
  return Journal.open({
    path,
    header,
    onLine(line, byte) {
      const [low, high] = halves(BigInt(`0x${/^\{"key":"([0-9a-f]+)"/.exec(line)?.[1] ?? "0"}`));
      known.add(low, high, byte);
    },
    refuse: (found) => otherWork("LABEL_OTHER", `${path}: these labels were made otherwise`, found, header),
  });
}

/** The refusal of a journal in which other work has begun. */
export const otherWork = (code: string, what: string, found: string, header: string): UserError =>
  new UserError(
    code,
    `${what}: ${found}\nThis run asks for ${header}.\nRepeat the first command, or delete that file to begin anew.`,
  );

const halves = (key: bigint): [number, number] => [Number(key & 0xffffffffn), Number(key >> 32n)];

/** Positions of a file of records, or of a text with one FEN a line. */
async function* readPositions(path: string): AsyncGenerator<{
  records: DataRecord[];
  done: number; // of `total`, before these
  each: number; // what a record adds to it
  total?: number;
}> {
  if (/\.(epd|fen|txt)(\.(zst|gz|bz2))?$/i.test(path)) {
    await refuseOther(path, ["epd", "fen", "txt"], "one FEN per line");
    const source = await openBytes(path);
    let line = 0;
    for await (const text of readLines(source, path)) {
      line++;
      const [board, side, castling, ep, clock, number] = text.trim().split(/\s+/);
      if (!board || board.startsWith("#")) continue;
      const counted = /^\d+$/.test(clock ?? "") && /^\d+$/.test(number ?? "");
      const fen = [board, side, castling, ep, counted ? clock : "0", counted ? number : "1"].join(" ");
      atPlace(`${path}, line ${line}`, () => positionOf(fen));
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

interface Asked {
  fen: string;
  position: Position;
}

async function askAll<A extends object>(
  from: string,
  journal: Journal,
  known: KeyTable,
  question: Survey<A>,
  options: AskOptions,
  result: AskResult,
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
        else yield { fen, position };
      }
    }
  })();
  let appended: Promise<unknown> = Promise.resolve();
  const keep = (answer: A, position: Position) => {
    const line = JSON.stringify({ key: position.key.toString(16), ...answer });
    const writing = appended.then(() => journal.append(line));
    appended = writing.catch(() => {}); // seen by whoever waits for it
    return writing.then((byte) => {
      const [low, high] = halves(position.key);
      known.add(low, high, byte);
      result.labelled++;
    });
  };
  // One question at a time is taken from the file, whoever asks for it.
  let taking: Promise<IteratorResult<Asked>> = Promise.resolve({ done: false, value: undefined as never });
  const next = () => (taking = taking.then((last) => (last.done ? last : questions.next())));
  const { elsewhere } = options;
  let failure: unknown;
  const process = async () => {
    const engine = elsewhere ? undefined : new Engine(question, options);
    const stop = new AbortController();
    stops.push(stop);
    try {
      for (let last = false; !last && failure === undefined; ) {
        const batch: Asked[] = [];
        while (!last && batch.length < (elsewhere?.batch ?? 1)) {
          const taken = await next();
          if (taken.done) last = true;
          else batch.push(taken.value);
        }
        signal.throwIfAborted();
        if (batch.length === 0) break;
        const answers = engine
          ? [await engine.ask(batch[0].position)]
          : await elsewhere?.ask(batch.map(({ fen }) => fen), stop.signal); // biome-ignore format: a list
        for (const [i, { position }] of batch.entries()) {
          const answer = answers?.[i];
          if (answer) await keep(answer as A, position);
          else result.failed++;
        }
      }
    } catch (error) {
      failure ??= error;
      for (const each of stops) each.abort(error);
    } finally {
      await engine?.close();
    }
  };
  const stops: AbortController[] = [];
  const relay = () => {
    for (const each of stops) each.abort(signal.reason);
  };
  signal.addEventListener("abort", relay, { once: true });
  await Promise.all(Array.from({ length: elsewhere?.batches ?? options.processes }, process));
  signal.removeEventListener("abort", relay);
  await questions.return(undefined);
  if (failure !== undefined) throw signal.aborted ? signal.reason : failure;
}

/** Lets one process of an engine answer for positions, in their order; undefined for those that were given up. */
export async function answerPositions<A extends object>(
  question: Question<A>,
  fens: readonly string[],
  options: Answering,
): Promise<(A | undefined)[]> {
  const engine = new Engine(question, options);
  const answers: (A | undefined)[] = [];
  try {
    for (const fen of fens) {
      options.signal.throwIfAborted();
      answers.push(await engine.ask(positionOf(fen)));
    }
  } finally {
    await engine.close();
  }
  return answers;
}

/** One process of the engine, started again when it fails. */
class Engine<A extends object> {
  private player: Player | undefined;
  private starts = 0; // failed, in a row
  private hasStarted = false;

  constructor(
    private readonly question: Question<A>,
    private readonly options: Answering,
  ) {}

  /** What it says of a position; undefined if it failed at it again and again. */
  async ask(position: Position): Promise<A | undefined> {
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

  private async attempt(position: Position): Promise<A> {
    const { limits, signal } = this.options;
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
      const multiPv = this.question.multiPv(position.moves().length);
      const asked = player.choose(position, { ...limits, multiPv });
      asked.catch(() => {}); // if it is stopped, nobody waits for it
      return this.question.answerOf(await Promise.race([asked, stopped]), position);
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

const nothingAnswered = (from: string): UserError =>
  new UserError("RECORDS_NONE", `${from}: there is no answer to any of its positions, so nothing was written.`);

async function writeAnswered<A extends object>(
  from: string,
  to: string,
  journal: string,
  known: KeyTable,
  question: Survey<A>,
  { kind, signal }: AskOptions,
  result: AskResult,
): Promise<void> {
  const labels = await openRandom(journal);
  const writer = await createRecords(to, { kind });
  try {
    for await (const { records } of readPositions(from)) {
      signal.throwIfAborted();
      const labelled: DataRecord[] = [];
      for (const record of records) {
        const byte = known.get(...halves(positionOf(record.fen).key));
        if (byte !== undefined) labelled.push(...question.recordsOf(record, JSON.parse(readLineAt(labels, byte)) as A));
      }
      await writer.write(labelled);
      result.written += labelled.length;
    }
    if (result.written === 0) throw nothingAnswered(from);
    await writer.commit();
  } catch (error) {
    await writer.abort();
    throw error;
  } finally {
    labels.close();
  }
}
