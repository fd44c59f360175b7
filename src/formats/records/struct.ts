// Text to and from the core's struct of a position, without the checks and the history of a Position: what files of
// millions of records need. An en-passant square is kept as it is written, whether a capture is legal or not.
import { UserError } from "#base";
import { core, formatSquare, parseSquare } from "#chess";

const { EP_AT, FULLMOVES_AT, HALFMOVES_AT, MAILBOX_AT, NO_SQUARE, RIGHTS_AT, ROOKS_AT, SIDE_AT, wasm } = core;
const { POSITION_BYTES, RECORD_BYTES } = core;
const LETTERS = " PNBRQK  pnbrqk";
const CODES = new Uint8Array(128);
for (let code = 1; code < LETTERS.length; code++) if (LETTERS[code] !== " ") CODES[LETTERS.charCodeAt(code)] = code;

const KING = 6;
const ROOK = 4;
const PAWN = 1;

/** Records that are decoded or encoded in one go. */
export const BATCH_RECORDS = 4096;
/** Two positions, a batch of records, one list of moves, for everything in this folder. */
export const POSITION = core.allocate(POSITION_BYTES * 2);
export const RECORDS = core.allocate((BATCH_RECORDS + 1) * RECORD_BYTES);
export const LIST = core.allocate(core.MOVE_LIST_BYTES);

const fail = (fen: string, problem: string): never => {
  throw new UserError("RECORD_FEN", `FEN "${fen.slice(0, 120)}": ${problem}`);
};

function counter(fen: string, name: string, text: string, maximum: number): number {
  const value = Number(text);
  if (text === "" || !Number.isInteger(value) || value < 0 || value > maximum) {
    fail(fen, `the ${name} is "${text}", expected a whole number up to ${maximum}.`);
  }
  return value;
}

/** Writes a FEN to POSITION, all but its key. What is impossible on the board is for `checkPosition` to see. */
export function putFen(fen: string): void {
  const { bytes } = core;
  bytes.fill(0, POSITION, POSITION + core.POSITION_BYTES);
  const [board, side, castling, ep, clock = "0", number = "1", ...rest] = fen.split(" ");
  if (ep === undefined || rest.length > 0) fail(fen, "expected 6 fields separated by one space.");
  let square = 56;
  let file = 0;
  let kings = 0;
  for (let i = 0; i < board.length; i++) {
    const character = board.charCodeAt(i);
    if (character === 47) {
      if (file !== 8) fail(fen, `rank ${1 + (square >> 3)} has ${file} files, expected 8.`);
      square -= 8;
      file = 0;
    } else if (character > 48 && character < 57) file += character - 48;
    else {
      const code = CODES[character & 127];
      if (code === 0) fail(fen, `"${board[i]}" is not a piece.`);
      if (square < 0 || file > 7) fail(fen, "the board has more than 8 ranks or files.");
      if ((code & 7) === KING) kings += code & 8 ? 16 : 1;
      bytes[POSITION + MAILBOX_AT + square + file++] = code;
    }
  }
  if (square !== 0 || file !== 8) fail(fen, "the board has not 8 ranks of 8 files.");
  if (kings !== 17) fail(fen, "expected one king of each colour.");
  if (side !== "w" && side !== "b") fail(fen, `the side to move is "${side}", expected "w" or "b".`);
  bytes[POSITION + SIDE_AT] = side === "b" ? 1 : 0;
  const epSquare = ep === "-" ? NO_SQUARE : parseSquare(ep);
  if (epSquare === undefined) fail(fen, `the en-passant square is "${ep}".`);
  bytes[POSITION + EP_AT] = epSquare as number;
  const clockValue = counter(fen, "halfmove clock", clock, 65535);
  const numberValue = counter(fen, "move number", number, 65535);
  bytes[POSITION + HALFMOVES_AT] = clockValue;
  bytes[POSITION + HALFMOVES_AT + 1] = clockValue >> 8;
  bytes[POSITION + FULLMOVES_AT] = numberValue;
  bytes[POSITION + FULLMOVES_AT + 1] = numberValue >> 8;
  bytes.fill(NO_SQUARE, POSITION + ROOKS_AT, POSITION + ROOKS_AT + 4);
  if (castling !== "-") for (const letter of castling) putRight(fen, letter);
  wasm.completePosition(POSITION);
}

/** A castling right: KQkq for the outermost rook, or a rook's file. */
function putRight(fen: string, letter: string): void {
  const { bytes } = core;
  const black = letter === letter.toLowerCase() ? 8 : 0;
  const home = black ? 56 : 0;
  let king = -1;
  let first = -1;
  let last = -1;
  const wanted = letter.toUpperCase();
  let named = -1;
  for (let file = 0; file < 8; file++) {
    const code = bytes[POSITION + MAILBOX_AT + home + file];
    if (code === (KING | black)) king = file;
    else if (code === (ROOK | black)) {
      if (first < 0) first = file;
      last = file;
      if ("ABCDEFGH"[file] === wanted) named = file;
    }
  }
  const rook = wanted === "K" ? last : wanted === "Q" ? first : named;
  const long = rook < king;
  if (king < 0 || rook < 0 || (wanted === "K" && long) || (wanted === "Q" && !long)) {
    fail(fen, `the castling right "${letter}" has no king and rook at home.`);
  }
  const right = (black ? 2 : 0) + (long ? 1 : 0);
  bytes[POSITION + RIGHTS_AT] |= 1 << right;
  bytes[POSITION + ROOKS_AT + right] = home + rook;
}

/** The FEN of the position at an address. */
export function formatFenAt(address: number): string {
  const { bytes } = core;
  let text = "";
  for (let rank = 7; rank >= 0; rank--) {
    let empty = 0;
    const start = address + MAILBOX_AT + rank * 8;
    for (let at = start; at < start + 8; at++) {
      const code = bytes[at];
      if (code === 0) {
        empty++;
        continue;
      }
      if (empty > 0) text += empty;
      empty = 0;
      text += LETTERS[code];
    }
    if (empty > 0) text += empty;
    if (rank > 0) text += "/";
  }
  const ep = bytes[address + EP_AT];
  const clock = bytes[address + HALFMOVES_AT] | (bytes[address + HALFMOVES_AT + 1] << 8);
  const number = bytes[address + FULLMOVES_AT] | (bytes[address + FULLMOVES_AT + 1] << 8);
  const side = bytes[address + SIDE_AT] ? "b" : "w";
  return `${text} ${side} ${formatRights(address)} ${ep === NO_SQUARE ? "-" : formatSquare(ep)} ${clock} ${number}`;
}

function formatRights(address: number): string {
  const { bytes } = core;
  const rights = bytes[address + RIGHTS_AT];
  if (rights === 0) return "-";
  let text = "";
  for (let right = 0; right < 4; right++) {
    if (!(rights & (1 << right))) continue;
    const rook = bytes[address + ROOKS_AT + right];
    const step = right & 1 ? -1 : 1;
    let outermost = true;
    for (let file = (rook & 7) + step; file >= 0 && file < 8; file += step) {
      if (bytes[address + MAILBOX_AT + (rook & 56) + file] === bytes[address + MAILBOX_AT + rook]) outermost = false;
    }
    const letter = outermost ? "KQ"[right & 1] : "ABCDEFGH"[rook & 7];
    text += right < 2 ? letter : letter.toLowerCase();
  }
  return text;
}

const PROMOTIONS = "nbrq";

/** The legal move at POSITION that a UCI text means; undefined if there is none. "e1g1" and "e1h1" both castle. */
export function findMove(uci: string): number | undefined {
  const { bytes } = core;
  const from = parseSquare(uci.slice(0, 2));
  const to = parseSquare(uci.slice(2, 4));
  const promotion = PROMOTIONS.indexOf(uci[4] ?? "-");
  if (from === undefined || to === undefined || uci.length > 5 || (uci.length === 5 && promotion < 0)) return undefined;
  const piece = bytes[POSITION + MAILBOX_AT + from];
  const target = bytes[POSITION + MAILBOX_AT + to];
  let move = (from << 6) | to;
  if (promotion >= 0) move |= (1 << 14) | (promotion << 12);
  else if ((piece & 7) === KING) {
    if (target === ((piece & 8) | ROOK)) move |= 3 << 14;
    else if ((from & 7) === 4 && (to === from + 2 || to === from - 2)) {
      const right = (piece & 8 ? 2 : 0) + (to < from ? 1 : 0);
      if (bytes[POSITION + RIGHTS_AT] & (1 << right))
        move = (3 << 14) | (from << 6) | bytes[POSITION + ROOKS_AT + right];
    }
  } else if ((piece & 7) === PAWN && target === 0 && (from & 7) !== (to & 7)) move |= 2 << 14;
  return isLegal(move) ? move : undefined;
}

/** Whether a move is legal at POSITION. */
export function isLegal(move: number): boolean {
  const count = wasm.generate(POSITION, LIST);
  const at = LIST >> 1;
  for (let i = at; i < at + count; i++) if (core.moves[i] === move) return true;
  return false;
}

const SQUARES = Array.from({ length: 64 }, (_, square) => formatSquare(square));

/** UCI of a move: castling as e1g1 where king and rook stand as in standard chess, else king takes rook. */
export function formatMove(move: number): string {
  const from = (move >> 6) & 63;
  let to = move & 63;
  const kind = move >> 14;
  if (kind === 3 && (from & 7) === 4 && ((to & 7) === 0 || (to & 7) === 7)) to = (from & 56) + (to > from ? 6 : 2);
  return SQUARES[from] + SQUARES[to] + (kind === 1 ? PROMOTIONS[(move >> 12) & 3] : "");
}
