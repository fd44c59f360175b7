import { UserError } from "#base";
import { core, type Position, parseFen, parseUci } from "#chess";
import { FEN_TOKENS, MOVE_TABLES, turnFenTokens, winProbability } from "#encodings";
import {
  badRecord,
  type DataRecord,
  decodeBagRecord,
  decodePacked,
  eachRecord,
  openRawRecords,
  type RawForm,
} from "#formats";
import { encodeActionInput, MIRRORED_ACTIONS } from "#models";
import { ActionLine } from "./action-line.js";
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
  const gathered = new Gathered(turned);
  reading: for (const path of paths) {
    let number = 0;
    const reader = await openRawRecords(path);
    for await (const batch of reader) {
      for (const record of eachRecord(batch)) {
        const problem = gathered.add(record, reader.form);
        if (problem !== undefined) {
          const advice = `Leave such records out with: tabiya data convert ${path} -o NEW`;
          throw badRecord("DATA_RECORD", { path, record: number }, `${problem}\n${advice}`);
        }
        number++;
        if (limit > 0 && gathered.positions > limit) break reading; // one more: the last could still grow
      }
    }
  }
  if (gathered.positions === 0)
    throw new UserError("DATA_NONE", `${paths.join(", ") || "no file"}: no position with valued moves to learn from.`);
  return gathered.result(limit);
}

const { wasm, LIST, POSITION_BYTES } = core;
const SIDE = 138; // where a position says whose move it is: assembly/chess/position.ts
const FEN_ROOM = 256;
let room: { fen: number; position: number; tokens: number } | undefined;

/** What was read so far. */
class Gathered {
  private readonly tokens = new Growing(new Uint8Array(1 << 16));
  private readonly starts = new Growing(new Uint32Array(1 << 10));
  private readonly actions = new Growing(new Uint16Array(1 << 14));
  private readonly probabilities = new Growing(new Float32Array(1 << 14));
  private readonly line = new ActionLine();
  private fen = ""; // of the last position

  constructor(private readonly turned: boolean) {}

  get positions(): number {
    return this.starts.length;
  }

  /** Adds a record; says what is wrong with it, if something is. */
  add(bytes: Uint8Array, form: RawForm): string | undefined {
    if (form === "line" && this.line.read(bytes) && this.addLine(bytes)) return undefined;
    try {
      const record =
        form === "packed"
          ? decodePacked(bytes)
          : form === "bag"
            ? decodeBagRecord(bytes)
            : (JSON.parse(new TextDecoder().decode(bytes)) as DataRecord);
      return this.addRecord(record);
    } catch (error) {
      if (error instanceof UserError || error instanceof SyntaxError) return error.message;
      throw error;
    }
  }

  /** The quick way, for what the line holds; false if something about it is unusual. */
  private addLine(bytes: Uint8Array): boolean {
    const { fenStart, fenEnd, count, actions, scores } = this.line;
    const length = fenEnd - fenStart;
    if (length > FEN_ROOM) return false;
    room ??= {
      fen: core.allocate(FEN_ROOM),
      position: core.allocate(POSITION_BYTES),
      tokens: core.allocate(FEN_TOKENS),
    };
    const { fen, position, tokens: row } = room;
    for (let i = 0; i < length; i++) core.bytes[fen + i] = bytes[fenStart + i];
    if (!wasm.readFen(fen, length, position)) return false;
    const black = core.bytes[position + SIDE] === 1;
    legalIn++;
    for (let k = LIST >> 1, end = k + wasm.generate(position, LIST); k < end; k++) {
      LEGAL[actions1968.indexOf(core.moves[k], black)] = legalIn;
    }
    for (let i = 0; i < count; i++) if (LEGAL[actions[i]] !== legalIn) return false;
    const text = String.fromCharCode(...bytes.subarray(fenStart, fenEnd));
    if (text === this.fen) return false;
    this.fen = text;
    wasm.encodeFenTokens(position, 1, row);
    const tokens = core.bytes.slice(row, row + FEN_TOKENS);
    const isMirrored = this.turned && black;
    if (isMirrored) turnFenTokens(tokens);
    const found = new Map<number, number>();
    for (let i = 0; i < count; i++) {
      found.set(isMirrored ? MIRRORED_ACTIONS[actions[i]] : actions[i], winProbability(scores[i]));
    }
    this.push(tokens, found);
    return true;
  }

  private addRecord(record: DataRecord): string | undefined {
    if (typeof record?.fen !== "string") return '"fen" is missing.';
    const valued = valuedMoves(record);
    if (valued.length === 0) return "it has no move with a value.";
    const position = parseFen(record.fen);
    const { tokens, numberOf } = encodeActionInput(position, this.turned);
    legalIn++;
    for (const move of position.moves()) LEGAL[actions1968.encode(position, move)] = legalIn;
    const found = new Map<number, number>();
    for (const [uci, probability] of valued) {
      const action = actionOf(position, uci);
      if (action === undefined) return `the move ${uci} is not legal in ${record.fen}.`;
      if (!(probability >= 0 && probability <= 1)) return `the win probability of ${uci} is ${probability}.`;
      found.set(numberOf(action), probability);
    }
    if (record.fen === this.fen) this.join(found);
    else this.push(tokens, found);
    this.fen = record.fen;
  }

  private push(tokens: Uint8Array, moves: ReadonlyMap<number, number>): void {
    this.tokens.append(tokens);
    this.starts.push(this.actions.length);
    const ordered = Uint16Array.from(moves.keys()).sort();
    this.actions.append(ordered);
    for (const action of ordered) this.probabilities.push(moves.get(action)!);
  }

  /** Adds moves to the last position. */
  private join(moves: ReadonlyMap<number, number>): void {
    const start = this.starts.values[this.starts.length - 1];
    const all = new Map<number, number>();
    this.actions.values.subarray(start).forEach((action, i) => {
      all.set(action, this.probabilities.values[start + i]);
    });
    for (const [action, probability] of moves) all.set(action, probability);
    const tokens = this.tokens.values.slice(-FEN_TOKENS);
    this.tokens.length -= FEN_TOKENS;
    this.starts.length--;
    this.actions.length = start;
    this.probabilities.length = start;
    this.push(tokens, all);
  }

  result(limit: number): ActionData {
    const positions = limit > 0 ? Math.min(limit, this.positions) : this.positions;
    this.starts.push(this.actions.length);
    const starts = this.starts.values.subarray(0, positions + 1);
    const tokens = this.tokens.values.subarray(0, positions * FEN_TOKENS);
    const actions = this.actions.values.subarray(0, starts[positions]);
    const probabilities = this.probabilities.values.subarray(0, starts[positions]);
    let hash = FNV_START;
    for (const part of [tokens, starts, actions, probabilities]) {
      hash = fnv(hash, new Uint8Array(part.buffer, part.byteOffset, part.byteLength));
    }
    const fingerprint = `${positions} positions, ${actions.length} moves, fnv1a ${(hash >>> 0).toString(16).padStart(8, "0")}`;
    return { positions, tokens, starts, actions, probabilities, fingerprint };
  }
}

let legalIn = 0; // number of the position in whose turn LEGAL was written
const LEGAL = new Uint32Array(actions1968.size);

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
