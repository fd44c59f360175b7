// What a worker does for batches of a decoder: records of games in their order in, sequences out.
import { messageOf, Random, UserError } from "#base";
import { core, materialAt, wdlOfScore } from "#chess";
import { BOARD_TOKENS, MOVE_TABLES } from "#encodings";
import { type DataRecord, eachRecord, encodePacked, type RawBatch } from "#formats";
import { POSITION_TOKENS } from "#models";
import type { BatchRows } from "../batches/encode-in-workers.js";
import { BadRow } from "../batches/row-format.js";
import { type MoveLists, moveLists, NO_MOVE, type Table, table } from "./move-lists.js";
import { drawNoise, type Noise, SequenceRows, type Step, showNoisy, type Worth } from "./sequence.js";
import { areThoughts, thoughtOf } from "./thought.js";

/** How sequences of a decoder are made. */
export interface WindowEncoding {
  context: number; // positions in a row: the window of a game
  resultShare: number; // how much of a value is the game's result instead of the score
  thinking?: boolean; // rows may be thoughts too, and moves come as lists besides
  valueNoise?: number; // of the values that are shown
  skipBoards?: number; // share of the boards of games, behind the first of a window, that are left out
}

/** Windows of games: the tensors of SequenceRows that games need, and the legal moves of each position. */
export type WindowArrays = Pick<
  SequenceRows,
  "tokens" | "values" | "boardTargets" | "changes" | "moveTargets" | "winLossTargets" | "drawTargets"
> & {
  legal: Table<Int32Array<ArrayBuffer>>; // [context * rows, k], the first positions of all rows first; of moves1924, then -1
  policy: Table<Float32Array<ArrayBuffer>>; // what to learn of each of them; the sum is 1
};

/** What rows of thoughts need besides. */
export type ThoughtArrays = Pick<SequenceRows, "slots" | "blocks"> & MoveLists;

const { LIST, POSITION_BYTES, RECORD_BYTES, SIDE_AT, CHESS960_AT, wasm } = core;
const { moves1924, moves4672 } = MOVE_TABLES;

export class WindowEncoder {
  private capacity = 0;
  private records = 0;
  private positions = 0;
  private boards = 0;
  private readonly scratch = core.allocate(POSITION_BYTES);
  private readonly scratchBoard = core.allocate(2 * BOARD_TOKENS);

  constructor(
    private readonly encoding: WindowEncoding,
    private readonly resultShares: Readonly<Record<string, number | undefined>> = {}, // of files that have their own
  ) {}

  /**
   * Encodes rows of `context` records each, which were neighbours in their file; a game that ends cuts its row short. Rows
   * that are not shuffled, as they are to judge by, have all their boards and true values.
   */
  encode(rows: readonly BatchRows[], seed: number, shuffled: boolean): WindowArrays & Partial<ThoughtArrays> {
    const { context, thinking, skipBoards = 0, valueNoise = 0 } = this.encoding;
    const random = new Random(seed);
    const isSkipped = skipBoards > 0 && shuffled ? () => random.next() < skipBoards : undefined;
    const isNoisy = valueNoise > 0 && shuffled;
    const count = rows.reduce((sum, { batch }) => sum + batch.ends.length, 0);
    const out = new SequenceRows(count, context * POSITION_TOKENS);
    const legal: number[][] = Array.from({ length: context * count }, () => []);
    const policy: number[][] = Array.from({ length: context * count }, () => []);
    let row = 0;
    for (const { batch, path, form } of rows) {
      if (form !== "packed" && thinking && areThoughts(batch)) {
        for (const line of eachRecord(batch)) this.writeThought(out, row++, line, random);
        continue;
      }
      const taught = form === "packed" ? undefined : parseRows(batch, row);
      const bytes = taught ? packRecords(taught, row, context) : batch.bytes;
      this.unpack(bytes, row, context);
      const share = this.resultShares[path] ?? this.encoding.resultShare;
      for (let i = 0; i < batch.ends.length; i++, row++) {
        const window = bytes.subarray(i * context * RECORD_BYTES, (i + 1) * context * RECORD_BYTES);
        const records = taught?.slice(i * context, (i + 1) * context);
        const { steps, moves, shares } = this.window(window, i * context, share, row, records);
        out.writeGame(row, isNoisy ? withNoise(steps, drawNoise(valueNoise, random)) : steps, isSkipped);
        moves.forEach((list, k) => {
          legal[k * count + row] = list;
          policy[k * count + row] = shares[k];
        });
      }
    }
    const { tokens, values, boardTargets, changes, moveTargets, winLossTargets, drawTargets } = out;
    const games = {
      tokens,
      values,
      boardTargets,
      changes,
      moveTargets,
      winLossTargets,
      drawTargets,
      legal: table(legal, (size) => new Int32Array(size).fill(NO_MOVE)),
      policy: table(policy, (size) => new Float32Array(size)),
    };
    return thinking || skipBoards > 0
      ? { ...games, slots: out.slots, blocks: out.blocks, ...moveLists(out, context, { legal, policy }) }
      : games;
  }

  private writeThought(out: SequenceRows, row: number, line: Uint8Array, random: Random): void {
    try {
      const record = JSON.parse(new TextDecoder().decode(line)) as DataRecord;
      out.writeThought(row, thoughtOf(record, random, out.length, this.encoding.valueNoise));
    } catch (error) {
      if (error instanceof UserError || error instanceof SyntaxError) throw new BadRow(row, error.message);
      throw error;
    }
  }

  private unpack(bytes: Uint8Array, firstRow: number, context: number): void {
    const count = bytes.length / RECORD_BYTES;
    if (count > this.capacity) {
      this.capacity = count;
      this.records = core.allocate(count * RECORD_BYTES);
      this.positions = core.allocate(count * POSITION_BYTES);
      this.boards = core.allocate(count * 2 * BOARD_TOKENS);
    }
    core.bytes.set(bytes, this.records);
    const good = wasm.unpackRecords(this.records, count, this.positions);
    if (good < count)
      throw new BadRow(firstRow + Math.floor(good / context), "it holds a position that is not one of chess.");
    wasm.encodeBoard68(this.positions, count, this.boards);
  }

  /** The positions of a window up to the end of their game, the legal moves of each, and the share of each to learn. */
  private window(records: Uint8Array, first: number, share: number, row: number, taught?: readonly DataRecord[]) {
    const view = new DataView(records.buffer, records.byteOffset, records.length);
    const steps: Step[] = [];
    const moves: number[][] = [];
    const shares: number[][] = [];
    for (let k = 0; k < this.encoding.context; k++) {
      const at = k * RECORD_BYTES;
      const position = this.positions + (first + k) * POSITION_BYTES;
      const move = view.getUint16(at + core.RECORD_MOVE_AT, true);
      const black = core.bytes[position + SIDE_AT] === 1;
      const chess960 = core.bytes[position + CHESS960_AT] === 1;
      const listed = core.moves.subarray(LIST >> 1, (LIST >> 1) + wasm.generate(position, LIST));
      if (!listed.includes(move)) throw new BadRow(row, `the move of its record ${k} is not legal.`);
      moves.push(Array.from(listed, (one) => moves1924.indexOf(one, black, chess960)));
      const policy: Readonly<Record<number, number>> | undefined = taught?.[k].policy;
      shares.push(
        Array.from(listed, (one) =>
          policy ? (policy[moves4672.indexOf(one, black, chess960)] ?? 0) : one === move ? 1 : 0,
        ),
      );
      const score = view.getInt16(at + core.RECORD_SCORE_AT, true);
      const result = view.getInt8(at + core.RECORD_RESULT_AT);
      const known = taught?.[k].root_value;
      const step = {
        board: this.board(first + k),
        move: moves1924.indexOf(move, black, chess960),
        ...(typeof known === "number"
          ? mixWorth({ winLoss: known, draw: result === 0 ? 1 : 0 }, result, share)
          : worthOf(score, materialAt(core.bytes, position), result, share)),
      };
      // What the reply's position is worth to the opponent says what the move was worth.
      const last = steps.at(-1);
      if (last) Object.assign(last, { winLoss: -step.winLoss, draw: step.draw });
      steps.push(step);
      if (k + 1 === this.encoding.context || !this.follows(position, move, first + k + 1)) break;
    }
    return { steps, moves, shares };
  }

  private board = (record: number): Uint16Array =>
    new Uint16Array(core.bytes.buffer, this.boards + record * 2 * BOARD_TOKENS, BOARD_TOKENS);

  /** Whether a move leads to the board of another record. */
  private follows(position: number, move: number, record: number): boolean {
    core.bytes.copyWithin(this.scratch, position, position + POSITION_BYTES);
    wasm.play(this.scratch, move);
    wasm.encodeBoard68(this.scratch, 1, this.scratchBoard);
    const reached = new Uint16Array(core.bytes.buffer, this.scratchBoard, BOARD_TOKENS);
    const board = this.board(record);
    return reached.every((token, slot) => token === board[slot]);
  }
}

/** Steps whose values are shown with an error: the same for all of a window, or they would give it away together. */
const withNoise = (steps: readonly Step[], noise: Noise): Step[] =>
  steps.map((step, i) => ({ ...step, shown: showNoisy(step, noise, i % 2 === 0 ? 1 : -1) }));

/** Lines of games that a network has judged: a policy for each position, its value, and the result. */
function parseRows({ bytes }: RawBatch, firstRow: number): DataRecord[] {
  const lines = new TextDecoder().decode(bytes).trimEnd().split("\n");
  return lines.map((line) => {
    const record = parseLine(line, firstRow);
    if (!record.policy || typeof record.move !== "string")
      throw new BadRow(
        firstRow,
        'a line has no "policy" or no "move"; such lines are made by: tabiya data distil GAMES.pgn -o NEW.jsonl --net NET' +
          ' (and thoughts, which have "variations", by: tabiya data variations POSITIONS -o NEW.parquet --player PLAYER)',
      );
    return record;
  });
}

function parseLine(line: string, row: number): DataRecord {
  try {
    return JSON.parse(line) as DataRecord;
  } catch {
    throw new BadRow(row, `"${line.slice(0, 40)}" is not JSON.`);
  }
}

const LONGEST_CLOCK = 127; // half moves that a record of a .bin file can hold

/** A FEN whose halfmove clock fits; nothing of a window tells it. */
const withShortClock = (fen: string): string => {
  const fields = fen.split(" ");
  if (Number(fields[4]) <= LONGEST_CLOCK) return fen;
  return [...fields.slice(0, 4), LONGEST_CLOCK, ...fields.slice(5)].join(" ");
};

/** The same as records of a .bin file, without their values. */
function packRecords(records: readonly DataRecord[], firstRow: number, context: number): Uint8Array {
  const bytes = new Uint8Array(records.length * RECORD_BYTES);
  records.forEach(({ fen, move, value = 0 }, i) => {
    try {
      encodePacked(
        { fen: withShortClock(fen), move, score: 0, result: Math.round(value), ply: 0 },
        bytes.subarray(i * RECORD_BYTES, (i + 1) * RECORD_BYTES),
      );
    } catch (error) {
      throw new BadRow(firstRow + Math.floor(i / context), messageOf(error));
    }
  });
  return bytes;
}

/** What a score with the pieces left on the board, and a result, both the mover's, are worth. */
export function worthOf(scoreCp: number, material: number, result: number, resultShare: number): Worth {
  const [win, draw, loss] = wdlOfScore(scoreCp, material);
  return mixWorth({ winLoss: (win - loss) / 1000, draw: draw / 1000 }, result, resultShare);
}

function mixWorth({ winLoss, draw }: Worth, result: number, resultShare: number): Worth {
  const mix = (scored: number, known: number) => (1 - resultShare) * scored + resultShare * known;
  return { winLoss: mix(winLoss, result), draw: mix(draw, result === 0 ? 1 : 0) };
}
