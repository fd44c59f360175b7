// What a worker does for batches: records in, the arrays a network is trained on out.
import { Random, UserError } from "#base";
import { core, parseFen, parseUci } from "#chess";
import {
  bucketOf,
  HALFKP_ROW,
  MOVE_TABLES,
  type MoveTableName,
  RECORD_BYTES,
  ROW_LENGTHS,
  winProbability,
} from "#encodings";
import { type DataRecord, decodeBagRecord, decodePacked, eachRecord, type RawBatch, type RawForm } from "#formats";

/** What batches hold; see the types of the same names below. */
export type BatchEncoding =
  | {
      kind: "policy-value";
      planes: "planes13" | "planes18";
      moves: MoveTableName;
      scoreScale: number; // centipawns k in the value tanh(score / k); a mate is +-1
      resultShare: number; // how much of the value is the game's result instead of the score
    }
  | { kind: "actions"; queries: number; buckets: number } // moves of a position valued at once
  | { kind: "halfkp" };

/** Positions, the move to learn among the legal ones, and the value; all for the mover. */
export type PolicyValueArrays = {
  planes: Float32Array; // [n, planes, 8, 8]
  legal: { data: Int32Array; shape: [number, number] }; // [n, k], indices of the legal moves, then -1
  policy: { data: Float32Array; shape: [number, number] }; // [n, k], what to learn of each; sums to 1
  value: Float32Array; // [n], -1..1
};

/** Positions as tokens, and values of some of their moves: all legal ones if the data has them and there is room. */
export type ActionArrays = {
  tokens: Int32Array; // [n, 77]
  actions: Int32Array; // [n, queries], in actions1968; 0 where there is none
  buckets: Int32Array; // [n, queries]
  winProbability: Float32Array; // [n, queries]
  weights: Float32Array; // [n, queries], 0 where there is none
};

/** HalfKP indices as rows, mover first, and what to learn. */
export type HalfKpArrays = {
  indices: Uint16Array; // [n, 2, HALFKP_ROW], the rest of a row is HALFKP_UNUSED
  counts: Uint8Array; // [n]
  score: Int16Array; // [n], centipawns
  result: Int8Array; // [n]
};

export interface BatchKinds {
  "policy-value": PolicyValueArrays;
  actions: ActionArrays;
  halfkp: HalfKpArrays;
}
export type BatchArrays = BatchKinds[keyof BatchKinds];

/** What is known of a file beside its records. */
export interface FileNotes {
  moves?: MoveTableName; // of the move indices in it
  resultShare?: number; // instead of that of the encoding
}

/** Records of one form, next to one another in a batch. */
export interface BatchRows {
  form: RawForm;
  batch: RawBatch;
  path: string; // of the file
}

/** A record that cannot be used, by its place in the batch. */
export class BadRow extends Error {
  constructor(
    readonly row: number,
    readonly problem: string,
  ) {
    super(problem);
  }
}

/** What is to be learnt of a position. */
interface Target {
  move: number; // 0 if there is none
  score: number;
  result: number | undefined;
  resultShare: number | undefined; // of the file, if it has one of its own
  actions: { move: number; winProbability: number }[];
}

const { POSITION_BYTES, LIST, wasm } = core;
const SIDE = 138;
const CHESS960 = 139;
const NONE: Target["actions"] = [];
const MATE = 31_000; // scores beyond are mates
const MOVES = 96; // of a position that there is room for at first: more are rare

export class BatchEncoder {
  private capacity = 0;
  private records = 0;
  private positions = 0;
  private repetitions = 0;
  private out = 0;
  private counts = 0;

  constructor(
    private readonly encoding: BatchEncoding,
    private readonly files: Readonly<Record<string, FileNotes>> = {}, // by their paths
  ) {}

  /** Encodes records in their order; `seed` decides which moves are taken where there are too many. */
  encode(rows: readonly BatchRows[], seed: number): BatchArrays {
    this.makeRoom(rows.reduce((sum, { batch }) => sum + batch.ends.length, 0));
    const targets: Target[] = [];
    for (const { form, batch, path } of rows) {
      if (form === "packed") this.putPacked(batch.bytes, path, targets);
      else this.putRecords(form, batch, path, targets);
    }
    switch (this.encoding.kind) {
      case "policy-value":
        return this.policyValue(targets, this.encoding);
      case "actions":
        return this.actions(targets, this.encoding, new Random(seed));
      case "halfkp":
        return this.halfkp(targets);
    }
  }

  private makeRoom(count: number): void {
    if (count <= this.capacity) return;
    this.capacity = count;
    this.records = core.allocate(count * RECORD_BYTES);
    this.positions = core.allocate(count * POSITION_BYTES);
    this.repetitions = core.allocate(count);
    this.counts = core.allocate(count);
    const { encoding } = this;
    const row =
      encoding.kind === "policy-value"
        ? ROW_LENGTHS[encoding.planes] * 4
        : encoding.kind === "actions"
          ? ROW_LENGTHS["fen-tokens"]
          : HALFKP_ROW * 4;
    this.out = core.allocate(count * row);
  }

  private putPacked(bytes: Uint8Array, path: string, targets: Target[]): void {
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
      const score = view.getInt16(at + 32, true);
      const move = view.getUint16(at + 34, true);
      const isAction = this.encoding.kind === "actions" && move !== 0;
      const actions = isAction ? [{ move, winProbability: winProbability(score) }] : NONE;
      targets.push({ move, score, result: view.getInt8(at + 38), resultShare, actions });
    }
  }

  private putRecords(form: RawForm, batch: RawBatch, path: string, targets: Target[]): void {
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

  private policyValue(
    targets: readonly Target[],
    { planes: encoding, moves, scoreScale, resultShare }: Extract<BatchEncoding, { kind: "policy-value" }>,
  ): PolicyValueArrays {
    const count = targets.length;
    if (encoding === "planes13") wasm.encodePlanes13(this.positions, count, this.out);
    else wasm.encodePlanes18(this.positions, count, this.repetitions, this.out);
    const planes = new Float32Array(core.bytes.buffer, this.out, count * ROW_LENGTHS[encoding]).slice();
    const table = MOVE_TABLES[moves];
    let k = MOVES;
    let legal = new Int32Array(count * k).fill(-1);
    const columns = new Int32Array(count); // of the move to learn
    const value = new Float32Array(count);
    for (let i = 0; i < count; i++) {
      const position = this.positions + i * POSITION_BYTES;
      const black = core.bytes[position + SIDE] === 1;
      const chess960 = core.bytes[position + CHESS960] === 1;
      const { move: wanted, score, result, resultShare: share = resultShare } = targets[i];
      const length = wasm.generate(position, LIST);
      for (; length > k; k *= 2) legal = widen(legal, k);
      let column = -1;
      for (let j = 0; j < length; j++) {
        const move = core.moves[(LIST >> 1) + j];
        legal[i * k + j] = table.indexOf(move, black, chess960);
        if (move === wanted) column = j;
      }
      if (column < 0) throw new BadRow(i, "it has no legal move to learn.");
      columns[i] = column;
      const scored = score > MATE ? 1 : score < -MATE ? -1 : Math.tanh(score / scoreScale);
      value[i] = result === undefined ? scored : (1 - share) * scored + share * result;
    }
    const policy = new Float32Array(count * k);
    for (let i = 0; i < count; i++) policy[i * k + columns[i]] = 1;
    return { planes, legal: { data: legal, shape: [count, k] }, policy: { data: policy, shape: [count, k] }, value };
  }

  private actions(
    targets: readonly Target[],
    { queries, buckets: bucketCount }: Extract<BatchEncoding, { kind: "actions" }>,
    random: Random,
  ): ActionArrays {
    const count = targets.length;
    wasm.encodeFenTokens(this.positions, count, this.out);
    const tokens = Int32Array.from(core.bytes.subarray(this.out, this.out + count * ROW_LENGTHS["fen-tokens"]));
    const actions = new Int32Array(count * queries);
    const buckets = new Int32Array(count * queries);
    const winProbabilities = new Float32Array(count * queries);
    const weights = new Float32Array(count * queries);
    const table = MOVE_TABLES.actions1968;
    targets.forEach(({ actions: known }, i) => {
      if (known.length === 0) throw new BadRow(i, "it has no move with a value.");
      const black = core.bytes[this.positions + i * POSITION_BYTES + SIDE] === 1;
      const chess960 = core.bytes[this.positions + i * POSITION_BYTES + CHESS960] === 1;
      const chosen = known.length > queries ? random.shuffle([...known]).slice(0, queries) : known;
      chosen.forEach(({ move, winProbability: probability }, k) => {
        const at = i * queries + k;
        actions[at] = table.indexOf(move, black, chess960);
        buckets[at] = bucketOf(probability, bucketCount);
        winProbabilities[at] = probability;
        weights[at] = 1;
      });
    });
    return { tokens, actions, buckets, winProbability: winProbabilities, weights };
  }

  private halfkp(targets: readonly Target[]): HalfKpArrays {
    const count = targets.length;
    wasm.encodeHalfKp(this.positions, count, this.out, this.counts);
    return {
      indices: new Uint16Array(core.bytes.buffer, this.out, count * 2 * HALFKP_ROW).slice(),
      counts: core.bytes.slice(this.counts, this.counts + count),
      score: Int16Array.from(targets, ({ score }) => score),
      result: Int8Array.from(targets, ({ result }) => result ?? 0),
    };
  }
}

/** Rows of twice the length, filled with -1. */
function widen(rows: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const wide = new Int32Array(2 * rows.length).fill(-1);
  for (let at = 0; at < rows.length; at += length) wide.set(rows.subarray(at, at + length), 2 * at);
  return wide;
}

function problemOf(record: Uint8Array): string {
  try {
    decodePacked(record);
  } catch (error) {
    return (error as Error).message;
  }
  return "it cannot be read.";
}

/** Centipawns of a move's value in a record: a number, or "#n" for a mate in n moves. */
export const cpOf = (value: number | string): number => {
  if (typeof value === "number") return value;
  const mate = Number(value.slice(1));
  if (!value.startsWith("#") || !Number.isInteger(mate)) {
    throw new UserError("RECORD_FIELD", `a move is valued ${JSON.stringify(value)}, expected centipawns or "#n".`);
  }
  return mate > 0 ? 32_001 - 2 * mate : -32_000 - 2 * mate;
};

/** What a record with names teaches of its position. */
function targetOf(
  record: DataRecord,
  position: ReturnType<typeof parseFen>,
  table: MoveTableName | undefined,
): Omit<Target, "resultShare"> {
  const legal = (uci: string): number => {
    const move = parseUci(position, uci);
    if (move === undefined) throw new UserError("RECORD_MOVE", `the move ${uci} is not legal in ${record.fen}.`);
    return move;
  };
  if (record.moves) {
    const actions = Object.entries(record.moves).map(([uci, value]) => {
      const score = cpOf(value);
      return { move: legal(uci), score, winProbability: winProbability(score) };
    });
    const best = actions.reduce((a, b) => (b.score > a.score ? b : a), actions[0]);
    if (!best) throw new UserError("RECORD_FIELD", '"moves" is empty.');
    return { move: best.move, score: best.score, result: undefined, actions };
  }
  if (record.move_index !== undefined) {
    const move = table && MOVE_TABLES[table].decode(position, record.move_index);
    if (!move)
      throw new UserError("RECORD_MOVE", `the move number ${record.move_index} names no legal move of ${table}.`);
    const value = Math.max(-0.999999, Math.min(0.999999, record.value ?? 0));
    return { move, score: 400 * Math.atanh(value), result: undefined, actions: [] };
  }
  const move = typeof record.move === "string" ? legal(record.move) : 0;
  if (record.win_prob !== undefined) {
    const probability = record.win_prob;
    const score = Math.max(-32_000, Math.min(32_000, Math.log(probability / (1 - probability)) / 0.00368208));
    return { move, score, result: undefined, actions: move === 0 ? [] : [{ move, winProbability: probability }] };
  }
  const score = record.score ?? 0;
  const actions = move === 0 || record.score === undefined ? [] : [{ move, winProbability: winProbability(score) }];
  return { move, score, result: record.result, actions };
}
