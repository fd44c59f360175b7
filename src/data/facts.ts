// What a record says that can be counted or asked for, whatever its format: for `data filter` and `data info --histograms`.
import { UserError } from "#base";
import { core, parseFen, parseUci, scoreOfProbability } from "#chess";
import {
  badRecord,
  type DataRecord,
  decodeBagRecord,
  decodePacked,
  eachRecord,
  type OnBad,
  type RawBatch,
  type RawForm,
} from "#formats";

/** The facts of one record, for the side to move. What its kind of record does not hold is undefined. */
export interface Facts {
  score: number | undefined; // centipawns
  ply: number | undefined;
  result: number | undefined; // -1, 0, 1
  pieces: number; // on the board, kings counted
  king: number; // square of the mover's king, as the mover sees it: Black's board is turned
  inCheck: boolean;
  move: MoveKind | undefined; // of the record's move
}

export const MOVE_KINDS = ["quiet", "capture", "promotion", "castling"] as const; // a promotion that captures is a promotion
/** A kind of move, as records are filtered by. */
export type MoveKind = (typeof MOVE_KINDS)[number];

const { POSITION, RECORD_BYTES, wasm } = core;
const KING = 6;
let room: number | undefined;

/** Reads the facts of raw records of one form. */
export class FactReader {
  private readonly decoder = new TextDecoder();
  private done = 0; // records seen before this batch

  constructor(
    private readonly path: string,
    private readonly form: RawForm,
    private readonly onBad: OnBad,
  ) {}

  /** The facts of a batch, one for each record; undefined for one that is broken, which `onBad` hears of. */
  read(batch: RawBatch): (Facts | undefined)[] {
    const facts: (Facts | undefined)[] = [];
    for (const bytes of eachRecord(batch)) {
      try {
        facts.push(this.form === "packed" ? packedFacts(bytes) : recordFacts(this.decode(bytes)));
      } catch (error) {
        if (!(error instanceof UserError || error instanceof SyntaxError)) throw error;
        const code = error instanceof UserError ? error.code : "JSONL_LINE";
        this.onBad(badRecord(code, { path: this.path, record: this.done + facts.length }, error.message));
        facts.push(undefined);
      }
    }
    this.done += facts.length;
    return facts;
  }

  private decode(bytes: Uint8Array): DataRecord {
    return this.form === "bag" ? decodeBagRecord(bytes) : (JSON.parse(this.decoder.decode(bytes)) as DataRecord);
  }
}

/** Of a .bin record, without making text of it. */
function packedFacts(bytes: Uint8Array): Facts {
  room ??= core.allocate(RECORD_BYTES);
  core.bytes.set(bytes, room);
  if (wasm.unpackPosition(room, POSITION) !== 0) decodePacked(bytes); // throws what is wrong
  const read16 = (at: number) => bytes[at] | (bytes[at + 1] << 8);
  const move = read16(core.RECORD_MOVE_AT);
  return {
    score: (read16(core.RECORD_SCORE_AT) << 16) >> 16,
    ply: read16(core.RECORD_PLY_AT),
    result: (bytes[core.RECORD_RESULT_AT] << 24) >> 24,
    ...boardFacts(),
    move: move === 0 ? undefined : kindOfMove(move),
  };
}

/** Of a record with names. A win probability counts as a score. */
function recordFacts(record: DataRecord): Facts {
  const { fen, move, score, win_prob: probability, ply, result } = record;
  if (typeof fen !== "string") throw new UserError("RECORD_FIELD", '"fen" is missing.');
  const position = parseFen(fen);
  const found = typeof move === "string" ? parseUci(position, move) : undefined;
  if (typeof move === "string" && found === undefined)
    throw new UserError("RECORD_FIELD", `the move ${move} is not legal in ${fen}.`);
  position.enter();
  const number = (value: unknown) => (typeof value === "number" ? value : undefined);
  return {
    score: number(score) ?? (typeof probability === "number" ? scoreOfProbability(probability) : undefined),
    ply: number(ply),
    result: number(result),
    ...boardFacts(),
    move: found === undefined ? undefined : kindOfMove(found),
  };
}

/** Of the position in the core. */
function boardFacts(): Pick<Facts, "pieces" | "king" | "inCheck"> {
  const { bytes } = core;
  const black = bytes[POSITION + core.SIDE_AT];
  const own = KING | (black << 3);
  let pieces = 0;
  let king = 0;
  for (let square = 0; square < 64; square++) {
    const code = bytes[POSITION + core.MAILBOX_AT + square];
    if (code === 0) continue;
    pieces++;
    if (code === own) king = black ? square ^ 56 : square;
  }
  return { pieces, king, inCheck: wasm.checkers(POSITION) !== 0n };
}

/** Of a move in the position in the core. */
function kindOfMove(move: number): MoveKind {
  const special = move >> 14; // 1 promotion, 2 en passant, 3 castling
  if (special > 0) return special === 1 ? "promotion" : special === 2 ? "capture" : "castling";
  return core.bytes[POSITION + core.MAILBOX_AT + (move & 63)] === 0 ? "quiet" : "capture";
}
