// What a worker does for batches: records in, the arrays a network is trained on out.
import { Random, UserError } from "#base";
import { core, parseFen, valueOfScore } from "#chess";
import { ENCODE_PLANES, MOVE_TABLES, type MoveTableName, type PlanesName, ROW_LENGTHS } from "#encodings";
import { type DataRecord, decodeBagRecord, decodePacked, eachRecord, type RawBatch, type RawForm } from "#formats";
import type { Feeds } from "#tensor";
import type { BatchRows } from "../batches/encode-in-workers.js";
import { BadRow } from "../batches/row-format.js";
import { flipMoves, mirrorFiles, swapColours } from "./augment.js";
import { type Target, targetOf } from "./target.js";

/** How positions are shown, and what is to be learnt of them. */
export interface PlaneEncoding {
  planes: PlanesName;
  moves: MoveTableName;
  scoreScale: number; // centipawns k in the value tanh(score / k); a mate is +-1
  resultShare: number; // how much of the value is the game's result instead of the score
  augment?: boolean; // show half of the positions, where chess allows it, mirrored or from the other side
}

/** What is known of a file beside its records. */
export interface FileNotes {
  moves?: MoveTableName; // of the move indices in it
  resultShare?: number; // instead of that of the encoding
}

/** Positions with what is to be learnt of them. Values and moves are the mover's. */
export interface PolicyValueBatch extends Feeds {
  planes: Float32Array; // [n, planes, 8, 8]
  legal: { data: Int32Array; shape: readonly [number, number] }; // [n, k], indices of the legal moves, then -1
  policy: { data: Float32Array; shape: readonly [number, number] }; // [n, k], what to learn of each: sums to 1
  value: Float32Array; // [n], -1 to 1
}

/** A target with what its file says of it. */
type Row = Target & Pick<FileNotes, "resultShare">;

const { CHESS960_AT, LIST, POSITION_BYTES, RECORD_BYTES, RIGHTS_AT, SIDE_AT, wasm } = core;
const MOVES = 96; // of a position that there is room for at first: more are rare

export class PlaneEncoder {
  private capacity = 0;
  private records = 0;
  private positions = 0;
  private repetitions = 0;
  private out = 0;

  constructor(
    private readonly encoding: PlaneEncoding,
    private readonly files: Readonly<Record<string, FileNotes>> = {}, // by their paths
  ) {}

  /** Encodes records in their order; `seed` decides which are augmented. Those not shuffled, as they are to judge by, never are. */
  encode(rows: readonly BatchRows[], seed: number, shuffled: boolean): PolicyValueBatch {
    this.makeRoom(rows.reduce((sum, { batch }) => sum + batch.ends.length, 0));
    const targets: Row[] = [];
    for (const { form, batch, path } of rows) {
      if (form === "packed") this.putPacked(batch.bytes, path, targets);
      else this.putRecords(form, batch, path, targets);
    }
    return this.encodeTargets(targets, shuffled ? new Random(seed) : undefined);
  }

  private makeRoom(count: number): void {
    if (count <= this.capacity) return;
    this.capacity = count;
    this.records = core.allocate(count * RECORD_BYTES);
    this.positions = core.allocate(count * POSITION_BYTES);
    this.repetitions = core.allocate(count);
    this.out = core.allocate(count * ROW_LENGTHS[this.encoding.planes] * 4);
  }

  private putPacked(bytes: Uint8Array, path: string, targets: Row[]): void {
    const resultShare = this.files[path]?.resultShare;
    const first = targets.length;
    const count = bytes.length / RECORD_BYTES;
    core.bytes.set(bytes, this.records);
    const good = wasm.unpackRecords(this.records, count, this.positions + first * POSITION_BYTES);
    if (good < count) {
      throw new BadRow(first + good, problemOf(bytes.subarray(good * RECORD_BYTES, (good + 1) * RECORD_BYTES)));
    }
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += RECORD_BYTES) {
      const score = view.getInt16(at + core.RECORD_SCORE_AT, true);
      const move = view.getUint16(at + core.RECORD_MOVE_AT, true);
      targets.push({ move, score, result: view.getInt8(at + core.RECORD_RESULT_AT), resultShare });
    }
  }

  private putRecords(form: RawForm, batch: RawBatch, path: string, targets: Row[]): void {
    const decoder = new TextDecoder();
    for (const bytes of eachRecord(batch)) {
      try {
        const record = form === "bag" ? decodeBagRecord(bytes) : (JSON.parse(decoder.decode(bytes)) as DataRecord);
        const position = parseFen(record.fen);
        core.bytes.set(position.bytes(), this.positions + targets.length * POSITION_BYTES);
        const { moves, resultShare } = this.files[path] ?? {};
        targets.push({ ...targetOf(record, position, moves), resultShare });
      } catch (error) {
        if (error instanceof UserError || error instanceof SyntaxError) throw new BadRow(targets.length, error.message);
        throw error;
      }
    }
  }

  private encodeTargets(targets: readonly Row[], random: Random | undefined): PolicyValueBatch {
    const { planes: encoding, moves, scoreScale, resultShare, augment } = this.encoding;
    const count = targets.length;
    ENCODE_PLANES[encoding](this.positions, count, this.repetitions, this.out);
    const size = ROW_LENGTHS[encoding];
    const planes = new Float32Array(core.bytes.buffer, this.out, count * size).slice();
    const table = MOVE_TABLES[moves];
    let k = MOVES;
    let legal = new Int32Array(count * k).fill(-1);
    let policy = new Float32Array(count * k);
    const value = new Float32Array(count);
    for (let i = 0; i < count; i++) {
      const position = this.positions + i * POSITION_BYTES;
      const black = core.bytes[position + SIDE_AT] === 1;
      const chess960 = core.bytes[position + CHESS960_AT] === 1;
      const { move: wanted, policy: several, score, result, resultShare: share = resultShare } = targets[i];
      const length = wasm.generate(position, LIST);
      for (; length > k; k *= 2) {
        legal = widen(legal, k, -1);
        policy = widen(policy, k, 0);
      }
      let learnt = 0;
      for (let j = 0, at = i * k; j < length; j++, at++) {
        const move = core.moves[(LIST >> 1) + j];
        legal[at] = table.indexOf(move, black, chess960);
        if (several) policy[at] = several.shares[several.table.indexOf(move, black, chess960)] ?? 0;
        else if (move === wanted) policy[at] = 1;
        learnt += policy[at];
      }
      if (learnt === 0) throw new BadRow(i, "it has no legal move to learn.");
      if (several) normalise(policy.subarray(i * k, i * k + length), learnt, several.shares, i);
      const found = targets[i].value ?? valueOfScore(score, scoreScale);
      value[i] = result === undefined ? found : (1 - share) * found + share * result;
      if (!augment || !random) continue;
      const [row, indices] = [planes.subarray(i * size, (i + 1) * size), legal.subarray(i * k, i * k + length)];
      if (core.bytes[position + RIGHTS_AT] === 0 && random.next() < 0.5) {
        mirrorFiles(row);
        flipMoves(indices, moves, 7);
      }
      if (encoding === "planes13" && random.next() < 0.5) {
        swapColours(row);
        flipMoves(indices, moves, 56);
      }
    }
    return { planes, legal: { data: legal, shape: [count, k] }, policy: { data: policy, shape: [count, k] }, value };
  }
}

/** Rows of twice the length, filled up. */
function widen<T extends Int32Array<ArrayBuffer> | Float32Array<ArrayBuffer>>(
  rows: T,
  length: number,
  rest: number,
): T {
  const wide = new (rows.constructor as new (size: number) => T)(2 * rows.length).fill(rest) as T;
  for (let at = 0; at < rows.length; at += length) wide.set(rows.subarray(at, at + length), 2 * at);
  return wide;
}

/** Makes the shares of the legal moves sum to 1, unless much of the whole belongs to other moves. */
function normalise(policy: Float32Array, legal: number, shares: Readonly<Record<number, number>>, row: number): void {
  const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
  if (legal < 0.99 * total)
    throw new BadRow(
      row,
      `of its policy ${((1 - legal / total) * 100).toFixed(0)} % belong to moves that are not legal.`,
    );
  for (let i = 0; i < policy.length; i++) policy[i] /= legal;
}

function problemOf(record: Uint8Array): string {
  try {
    decodePacked(record);
  } catch (error) {
    return (error as Error).message;
  }
  return "it cannot be read.";
}
