import { UserError } from "#base";
import * as core from "./core.js";
import { POSITION, wasm } from "./core.js";
import {
  CHESS960_AT,
  EP_AT,
  FULLMOVES_AT,
  HALFMOVES_AT,
  MAILBOX_AT,
  NO_SQUARE,
  POSITION_BYTES,
  RIGHTS_AT,
  ROOKS_AT,
  SIDE_AT,
} from "./layout.js";
import { PIECE_LETTERS } from "./piece.js";
import { Position } from "./position.js";
import { formatSquare, parseSquare, type Square } from "./square.js";

/** The position that a game of chess begins with. */
export const START_FEN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

const KING = 6;
const ROOK = 4;
const PAWN = 1;
const BLACK = 8;

function fail(code: string, fen: string, problem: string): never {
  throw new UserError(code, `FEN "${fen.length > 120 ? `${fen.slice(0, 120)}...` : fen}": ${problem}`);
}

/** The 64 squares, a1 first, as the core numbers pieces. */
function parseBoard(fen: string, text: string): Uint8Array {
  const board = new Uint8Array(64);
  const ranks = text.split("/");
  if (ranks.length !== 8) fail("FEN_BOARD", fen, `the board has ${ranks.length} ranks, expected 8 separated by "/".`);
  ranks.forEach((rank, i) => {
    let file = 0;
    for (const letter of rank) {
      if (letter >= "1" && letter <= "8") {
        file += Number(letter);
        continue;
      }
      const code = letter === " " ? -1 : PIECE_LETTERS.indexOf(letter);
      if (code <= 0) fail("FEN_BOARD", fen, `"${letter}" in rank ${8 - i} is not a piece (PNBRQK, pnbrqk) or 1-8.`);
      if (file < 8) board[(7 - i) * 8 + file] = code;
      file++;
    }
    if (file !== 8) fail("FEN_BOARD", fen, `rank ${8 - i} ("${rank}") has ${file} files, expected 8.`);
  });
  return board;
}

function findKing(fen: string, board: Uint8Array, color: number): Square {
  const kings = [...board.keys()].filter((square) => board[square] === (KING | color));
  const name = color ? "black" : "white";
  if (kings.length !== 1) fail("FEN_KINGS", fen, `there are ${kings.length} ${name} kings, expected one.`);
  return kings[0];
}

/**
 * The castling rights and their rooks: K Q k q mean the outermost rook on that side (X-FEN), a file letter names the
 * rook (Shredder-FEN).
 */
function parseCastling(
  fen: string,
  text: string,
  board: Uint8Array,
  kings: Square[],
): { rights: number; rooks: number[] } {
  const rooks = [64, 64, 64, 64];
  let rights = 0;
  if (text === "-") return { rights, rooks };
  for (const letter of text) {
    const black = letter === letter.toLowerCase();
    const king = kings[black ? 1 : 0];
    const home = black ? 56 : 0;
    const upper = letter.toUpperCase();
    const isRook = (square: Square) => board[square] === (black ? ROOK | BLACK : ROOK);
    let rook: Square | undefined;
    if (upper === "K" || upper === "Q") {
      const files = upper === "K" ? [7, 6, 5, 4, 3, 2, 1] : [0, 1, 2, 3, 4, 5, 6];
      rook = files
        .map((file) => home + file)
        .find((square) => isRook(square) && (upper === "K" ? square > king : square < king));
    } else if (upper >= "A" && upper <= "H") {
      const square = home + upper.charCodeAt(0) - 65;
      if (isRook(square)) rook = square;
    } else {
      fail(
        "FEN_CASTLING",
        fen,
        `"${letter}" in the castling field "${text}" is not one of KQkq, a rook's file, or "-".`,
      );
    }
    if (rook === undefined || (king & 56) !== home) {
      const side = black ? "Black" : "White";
      fail(
        "FEN_CASTLING",
        fen,
        `castling right "${letter}" is impossible: ${side}'s king or rook is not where it needs it.`,
      );
    }
    const right = (black ? 2 : 0) + (rook > king ? 0 : 1);
    if (rights & (1 << right)) fail("FEN_CASTLING", fen, `the castling field "${text}" names one right twice.`);
    rights |= 1 << right;
    rooks[right] = rook;
  }
  return { rights, rooks };
}

function parseCounter(fen: string, name: string, text: string, minimum: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65535)
    fail("FEN_COUNTER", fen, `the ${name} "${text}" is not a whole number below 65536.`);
  return Math.max(value, minimum);
}

/**
 * Reads a FEN strictly: a UserError names the field and what was expected. Four fields are accepted and mean "0 1".
 * `chess960` decides how castling moves are spelled, not the rules; it is on by itself when a castling king or rook
 * does not stand on its usual square.
 */
export function parseFen(fen: string, options: { chess960?: boolean } = {}): Position {
  const fields = fen.trim().split(/\s+/);
  if (fields.length !== 6 && fields.length !== 4) {
    fail(
      "FEN_FIELDS",
      fen,
      `${fields.length} fields, expected 6: board, side, castling, en passant, halfmoves, move number.`,
    );
  }
  const [boardText, sideText, castlingText, epText, clockText = "0", numberText = "1"] = fields;
  const board = parseBoard(fen, boardText);
  if (sideText !== "w" && sideText !== "b")
    fail("FEN_SIDE", fen, `the side to move is "${sideText}", expected "w" or "b".`);
  const black = sideText === "b";
  const kings = [findKing(fen, board, 0), findKing(fen, board, BLACK)];
  const pawnAtEdge = board.findIndex((code, square) => (code & 7) === PAWN && (square < 8 || square > 55));
  if (pawnAtEdge >= 0)
    fail("FEN_BOARD", fen, `a pawn stands on ${formatSquare(pawnAtEdge)}; pawns live on ranks 2 to 7.`);
  for (const [color, name] of [
    [0, "White"],
    [BLACK, "Black"],
  ] as const) {
    const pieces = board.filter((code) => code !== 0 && (code & BLACK) === color).length;
    if (pieces > 16) fail("FEN_BOARD", fen, `${name} has ${pieces} pieces, at most 16 are possible.`);
  }
  const { rights, rooks } = parseCastling(fen, castlingText, board, kings);
  const usual = (right: number, rook: Square, king: Square) =>
    !(rights & (1 << right)) || (rooks[right] === rook && kings[right >> 1] === king);
  const chess960 = options.chess960 || !(usual(0, 7, 4) && usual(1, 0, 4) && usual(2, 63, 60) && usual(3, 56, 60));

  const state = new Uint8Array(POSITION_BYTES);
  const view = new DataView(state.buffer);
  state.set(board, MAILBOX_AT);
  state[RIGHTS_AT] = rights;
  state[EP_AT] = NO_SQUARE;
  state[SIDE_AT] = black ? 1 : 0;
  state[CHESS960_AT] = chess960 ? 1 : 0;
  view.setUint16(HALFMOVES_AT, parseCounter(fen, "halfmove clock", clockText, 0), true);
  view.setUint16(FULLMOVES_AT, parseCounter(fen, "move number", numberText, 1), true);
  state.set(rooks, ROOKS_AT);
  complete(state);

  const enemyKing = kings[black ? 0 : 1];
  const attackers = wasm.attackersTo(POSITION, enemyKing, occupiedOf(board));
  if (attackers & colorOf(board, black ? BLACK : 0)) {
    fail(
      "FEN_CHECK",
      fen,
      `${black ? "White" : "Black"} is in check, but it is ${black ? "Black" : "White"}'s move: the king could be taken.`,
    );
  }
  if (epText !== "-" && epIsPossible(fen, epText, board, black)) {
    state[EP_AT] = parseSquare(epText)!;
    complete(state);
  }
  return new Position(state, [], [], parseSquare(epText));
}

/** Lets the core fill in sets and key. */
function complete(state: Uint8Array): void {
  core.bytes.set(state, POSITION);
  wasm.completePosition(POSITION);
  state.set(core.bytes.subarray(POSITION, POSITION + POSITION_BYTES));
}

/** Checks the en-passant field; whether the capture is also legal (only then the square counts). */
function epIsPossible(fen: string, text: string, board: Uint8Array, black: boolean): boolean {
  const square = parseSquare(text);
  if (square === undefined || square >> 3 !== (black ? 2 : 5)) {
    fail("FEN_EP", fen, `the en-passant field is "${text}", expected "-" or a square of rank ${black ? 3 : 6}.`);
  }
  const pawn = black ? square + 8 : square - 8;
  const origin = black ? square - 8 : square + 8;
  if (board[pawn] !== (black ? PAWN : PAWN | BLACK) || board[square] !== 0 || board[origin] !== 0) {
    fail("FEN_EP", fen, `no pawn can just have passed the en-passant square ${text}.`);
  }
  return wasm.epIsLegal(POSITION, square) !== 0;
}

const setOf = (board: Uint8Array, test: (code: number) => boolean): bigint =>
  board.reduce((set, code, square) => (code !== 0 && test(code) ? set | (1n << BigInt(square)) : set), 0n);
const occupiedOf = (board: Uint8Array) => setOf(board, () => true);
const colorOf = (board: Uint8Array, color: number) => setOf(board, (code) => (code & BLACK) === color);

/** The rights as KQkq; a rook that is not the outermost of its side is named by its file (X-FEN). */
function formatCastling(state: Uint8Array): string {
  let text = "";
  for (let right = 0; right < 4; right++) {
    if (!(state[RIGHTS_AT] & (1 << right))) continue;
    const rook = state[ROOKS_AT + right];
    const step = right & 1 ? -1 : 1;
    let outermost = true;
    for (let square = rook + step; square >> 3 === rook >> 3 && square >= 0; square += step) {
      if (state[MAILBOX_AT + square] === state[MAILBOX_AT + rook]) outermost = false;
    }
    const letter = outermost ? "KQ"[right & 1] : "ABCDEFGH"[rook & 7];
    text += right < 2 ? letter : letter.toLowerCase();
  }
  return text || "-";
}

/** The FEN of a position, its castling rights as in X-FEN. */
export function formatFen(position: Position): string {
  const state = position.bytes();
  let board = "";
  for (let rank = 7; rank >= 0; rank--) {
    let empty = 0;
    for (let file = 0; file < 8; file++) {
      const code = state[MAILBOX_AT + rank * 8 + file];
      if (code === 0) {
        empty++;
        continue;
      }
      board += (empty || "") + PIECE_LETTERS[code];
      empty = 0;
    }
    board += (empty || "") + (rank ? "/" : "");
  }
  const ep = position.epSquare === undefined ? "-" : formatSquare(position.epSquare);
  const side = position.turn === "white" ? "w" : "b";
  return `${board} ${side} ${formatCastling(state)} ${ep} ${position.halfmoves} ${position.fullmoves}`;
}
