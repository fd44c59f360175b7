import { UserError } from "#base";
import { core, type Position, parseFen, parseUci, winProbability } from "#chess";
import { FEN_TOKENS, MOVE_TABLES, turnFenTokens } from "#encodings";
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
import { cpOf } from "../batches/move-value.js";
import { BlockWriter, FNV_START, fnv, type RandomRows } from "../batches/record-source.js";
import { ActionLine } from "./line.js";

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

export const MOVE_BYTES = 6;

/** How many moves a record of so many bytes has. */
export const movesIn = (bytes: number): number => (bytes - FEN_TOKENS) / MOVE_BYTES;

/**
 * Reads a file of valued moves once (all moves of a position in a record, or one; neighbours with one position are joined),
 * and keeps its positions as records of a file without a name beside `scratch`, so that memory does not grow with them.
 *
 * A record has 77 tokens, then of each move its number (2 bytes, little-endian, in actions1968, mirrored for Black if the
 * network sees the board turned) and its win probability (4 bytes, for the mover). The moves of a position stand in the
 * order of their numbers, which says nothing of their values.
 */
export async function openValuedPositions(
  path: string,
  { turned, limit = 0, scratch = path }: { turned: boolean; limit?: number; scratch?: string },
): Promise<RandomRows> {
  const writer = new BlockWriter(scratch);
  try {
    const packer = new Packer(turned);
    let positions = 0;
    let moves = 0;
    let hash = FNV_START;
    const isEnough = () => limit > 0 && positions >= limit;
    const keep = (record: Uint8Array | undefined): boolean => {
      if (record === undefined || isEnough()) return false;
      positions++;
      moves += movesIn(record.length);
      hash = fnv(hash, record);
      return writer.add(record);
    };
    for await (const record of packFile(path, packer)) {
      if (keep(record)) await writer.flush();
      if (isEnough()) break;
    }
    if (keep(packer.take())) await writer.flush();
    if (positions === 0) throw new UserError("DATA_NONE", `${path}: no position with valued moves to learn from.`);
    const fingerprint = `${positions} positions, ${moves} moves, fnv1a ${(hash >>> 0).toString(16).padStart(8, "0")}`;
    return { ...(await writer.finish()), path, fingerprint };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** The positions that are finished within a file. */
async function* packFile(path: string, packer: Packer): AsyncGenerator<Uint8Array> {
  let number = 0;
  const reader = await openRawRecords(path);
  for await (const batch of reader) {
    for (const record of eachRecord(batch)) {
      const problem = packer.add(record, reader.form);
      if (problem !== undefined) {
        const advice = `Leave such records out with: tabiya data convert ${path} -o NEW`;
        throw badRecord("DATA_RECORD", { path, record: number }, `${problem}\n${advice}`);
      }
      number++;
      if (packer.finished) yield packer.finished;
    }
  }
}

const { wasm, LIST, POSITION_BYTES } = core;
const FEN_ROOM = 256;
let room: { fen: number; position: number; tokens: number } | undefined;

/** Makes records of positions. The last position is held back: the next record may have more of its moves. */
class Packer {
  private readonly line = new ActionLine();
  // The last position: its FEN, its tokens, and its moves with their win probabilities by number.
  private fen: Uint8Array = new Uint8Array(0);
  private tokens: Uint8Array | undefined;
  private count = 0;
  private readonly actions = new Uint16Array(actions1968.size);
  private readonly probabilities = new Float32Array(actions1968.size).fill(Number.NaN); // NaN: none yet
  /** The position that the record added last was the first not to belong to, if it was so. */
  finished: Uint8Array | undefined;

  constructor(private readonly turned: boolean) {}

  /** Adds a record; says what is wrong with it, if something is. */
  add(bytes: Uint8Array, form: RawForm): string | undefined {
    this.finished = undefined;
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
    const black = core.bytes[position + core.SIDE_AT] === 1;
    legalIn++;
    for (let k = LIST >> 1, end = k + wasm.generate(position, LIST); k < end; k++) {
      LEGAL[actions1968.indexOf(core.moves[k], black)] = legalIn;
    }
    for (let i = 0; i < count; i++) if (LEGAL[actions[i]] !== legalIn) return false;
    const text = bytes.subarray(fenStart, fenEnd);
    if (isEqual(text, this.fen)) return false;
    wasm.encodeFenTokens(position, 1, row);
    const tokens = core.bytes.slice(row, row + FEN_TOKENS);
    const isMirrored = this.turned && black;
    if (isMirrored) turnFenTokens(tokens);
    this.begin(text.slice(), tokens);
    for (let i = 0; i < count; i++) {
      this.value(isMirrored ? MIRRORED_ACTIONS[actions[i]] : actions[i], winProbability(scores[i]));
    }
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
    const found: [number, number][] = [];
    for (const [uci, probability] of valued) {
      const action = actionOf(position, uci);
      if (action === undefined) return `the move ${uci} is not legal in ${record.fen}.`;
      if (!(probability >= 0 && probability <= 1)) return `the win probability of ${uci} is ${probability}.`;
      found.push([numberOf(action), probability]);
    }
    const text = new TextEncoder().encode(record.fen);
    if (!isEqual(text, this.fen)) this.begin(text, tokens);
    for (const [action, probability] of found) this.value(action, probability);
  }

  /** Another position; the last one is finished. */
  private begin(fen: Uint8Array, tokens: Uint8Array): void {
    this.finished = this.take();
    this.fen = fen;
    this.tokens = tokens;
  }

  /** Values a move of the last position; if it was valued before, anew. */
  private value(action: number, probability: number): void {
    if (Number.isNaN(this.probabilities[action])) this.actions[this.count++] = action;
    this.probabilities[action] = probability;
  }

  /** The last position as a record, if there is one. */
  take(): Uint8Array | undefined {
    if (!this.tokens) return undefined;
    const { actions, probabilities, count } = this;
    const record = new Uint8Array(FEN_TOKENS + MOVE_BYTES * count);
    record.set(this.tokens);
    const view = new DataView(record.buffer);
    actions.subarray(0, count).sort();
    for (let i = 0, at = FEN_TOKENS; i < count; i++, at += MOVE_BYTES) {
      view.setUint16(at, actions[i], true);
      view.setFloat32(at + 2, probabilities[actions[i]], true);
      probabilities[actions[i]] = Number.NaN;
    }
    this.count = 0;
    this.tokens = undefined;
    return record;
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
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
