import { UserError } from "#base";
import { type Position, parseFen, parseUci } from "#chess";
import { FEN_TOKENS, MOVE_TABLES, winProbability } from "#encodings";
import { badRecord, type DataRecord, openRecords } from "#formats";
import { encodeActionInput } from "#models";
import { FNV_START, fnv } from "./record-source.js";
import { cpOf } from "./target.js";

const { actions1968 } = MOVE_TABLES;

/** The numbers of moves by their text. */
const ACTION_OF_UCI = new Map(
  Array.from({ length: actions1968.size }, (_, action) => {
    const { from, to, promotion } = actions1968.named(action, false)!;
    const square = (s: number) => "abcdefgh"[s & 7] + (1 + (s >> 3));
    const letter = promotion === undefined ? "" : promotion === "knight" ? "n" : promotion[0];
    return [square(from) + square(to) + letter, action];
  }),
);

/** An array that grows. */
class Growing<A extends Uint8Array | Uint16Array | Uint32Array | Float32Array> {
  length = 0;
  constructor(private array: A) {}
  reserve(count: number): void {
    if (this.length + count <= this.array.length) return;
    const grown = new (this.array.constructor as new (length: number) => A)(2 * (this.length + count));
    grown.set(this.array);
    this.array = grown;
  }
  push(value: number): void {
    this.reserve(1);
    this.array[this.length++] = value;
  }
  append(values: ArrayLike<number>): void {
    this.reserve(values.length);
    this.array.set(values, this.length);
    this.length += values.length;
  }
  get values(): A {
    return this.array.subarray(0, this.length) as A;
  }
}

/**
 * Positions with values of their moves, in memory: 81 bytes a position and 6 a move, so that four million positions with
 * all their moves fit into a gigabyte. The moves of a position stand in the order of their numbers, which says nothing
 * of their values.
 */
export interface ActionData {
  positions: number;
  tokens: Uint8Array; // [positions, 77]
  starts: Uint32Array; // [positions + 1], where the moves of each begin
  actions: Uint16Array; // in actions1968, mirrored for Black if the network sees the board turned
  probabilities: Float32Array; // of winning, for the mover
  fingerprint: string;
}

/** Reads files of valued moves: all moves of a position in a record, or one; neighbours with one position are joined. */
export async function loadActions(
  paths: readonly string[],
  { turned, limit = 0 }: { turned: boolean; limit?: number },
): Promise<ActionData> {
  const tokens = new Growing(new Uint8Array(1 << 16));
  const starts = new Growing(new Uint32Array(1 << 10));
  const actions = new Growing(new Uint16Array(1 << 14));
  const probabilities = new Growing(new Float32Array(1 << 14));
  let fen: string | undefined; // of the position being gathered
  let moves = new Map<number, number>();
  const finish = () => {
    if (fen === undefined) return;
    starts.push(actions.length);
    for (const [action, probability] of [...moves].sort(([a], [b]) => a - b)) {
      actions.push(action);
      probabilities.push(probability);
    }
  };
  reading: for (const path of paths) {
    let number = 0;
    for await (const records of await openRecords(path)) {
      for (const record of records) {
        if (record.fen !== fen) {
          finish();
          if (limit > 0 && starts.length >= limit) break reading;
          fen = undefined;
          moves = new Map();
        }
        const problem = addMoves(record, turned, moves, fen === undefined ? tokens : undefined);
        if (problem !== undefined) {
          const advice = `Leave such records out with: tabiya data convert ${path} -o NEW`;
          throw badRecord("DATA_RECORD", { path, record: number }, `${problem}\n${advice}`);
        }
        fen = record.fen;
        number++;
      }
    }
  }
  if (starts.length * FEN_TOKENS < tokens.length) finish();
  if (starts.length === 0)
    throw new UserError("DATA_NONE", `${paths.join(", ") || "no file"}: no position with valued moves to learn from.`);
  const positions = starts.length;
  starts.push(actions.length);
  const parts = [tokens.values, starts.values, actions.values, probabilities.values];
  let hash = FNV_START;
  for (const part of parts) hash = fnv(hash, new Uint8Array(part.buffer, 0, part.byteLength));
  return {
    positions,
    tokens: tokens.values,
    starts: starts.values,
    actions: actions.values,
    probabilities: probabilities.values,
    fingerprint: `${positions} positions, ${actions.length} moves, fnv1a ${(hash >>> 0).toString(16).padStart(8, "0")}`,
  };
}

let legalIn = 0; // number of the position in whose turn LEGAL was written
const LEGAL = new Uint32Array(actions1968.size);

/** Adds the moves of a record, and its position if it is a new one; says what is wrong with it, if something is. */
function addMoves(
  record: DataRecord,
  turned: boolean,
  moves: Map<number, number>,
  tokens: Growing<Uint8Array> | undefined,
): string | undefined {
  const valued = valuedMoves(record);
  if (valued.length === 0) return "it has no move with a value.";
  try {
    const position = parseFen(record.fen);
    const { tokens: row, numberOf } = encodeActionInput(position, turned);
    legalIn++;
    for (const move of position.moves()) LEGAL[actions1968.encode(position, move)] = legalIn;
    const found: [number, number][] = [];
    for (const [uci, probability] of valued) {
      const action = actionOf(position, uci);
      if (action === undefined) return `the move ${uci} is not legal in ${record.fen}.`;
      if (!(probability >= 0 && probability <= 1)) return `the win probability of ${uci} is ${probability}.`;
      found.push([numberOf(action), probability]);
    }
    for (const [action, probability] of found) moves.set(action, probability);
    tokens?.append(row);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

function actionOf(position: Position, uci: string): number | undefined {
  const action = ACTION_OF_UCI.get(uci);
  if (action !== undefined && LEGAL[action] === legalIn) return action;
  const move = parseUci(position, uci); // castling in the other spelling
  return move === undefined ? undefined : actions1968.encode(position, move);
}

function valuedMoves({ moves, move, win_prob, score }: DataRecord): [string, number][] {
  if (moves) return Object.entries(moves).map(([uci, value]) => [uci, winProbability(cpOf(value))]);
  if (typeof move !== "string") return [];
  if (win_prob !== undefined) return [[move, win_prob]];
  return score === undefined ? [] : [[move, winProbability(score)]];
}
