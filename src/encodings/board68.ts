import { UserError } from "#base";
import type { Position } from "#chess";
import { formatSquare } from "#chess";
import { batchOf } from "./batch.js";
import { MOVE_TABLES } from "./move-tables.js";

const PIECES = ["K", "Q", "R", "B", "N", "P", "k", "q", "r", "b", "n", "p"] as const;
const CASTLING = [
  "K", "Q", "k", "q", "KQ", "Kk", "Kq", "Qk", "Qq", "kq", "KQk", "KQq", "Kkq", "Qkq", "KQkq", "-",
] as const; // biome-ignore format: one row
const STRUCTURE = [
  "start_pos", "end_pos", "white_to_move", "black_to_move", "empty", "pad", "bos", "eos", "wl_value", "d_value",
  "start_think", "end_think",
] as const; // biome-ignore format: two rows
const SIGNALS = ["end_var", "continue_var", "new_variation", "generic_move"] as const;

const castlingName = (rights: string) => `castling_${rights}`;
const moveName = (index: number) => {
  const { from, to, promotion } = MOVE_TABLES.moves1924.named(index, false)!;
  return formatSquare(from) + formatSquare(to) + (promotion ? promotion[0] : "");
};

/** ChessDecoder's 1968 tokens by their id: 1924 moves, then these. */
export const VOCABULARY: readonly string[] = [
  ...Array.from({ length: MOVE_TABLES.moves1924.size }, (_, index) => moveName(index)),
  ...PIECES,
  ...STRUCTURE,
  ...CASTLING.map(castlingName),
  ...SIGNALS,
];

const ids = new Map(VOCABULARY.map((name, id) => [name, id]));

/** The id of a token by its name. */
export function tokenId(name: string): number {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`internal: no token is called ${name}`);
  return id;
}

/** The 41 tokens the board head speaks, by their number in that head. */
export const BOARD_VOCABULARY: readonly string[] = [
  ...PIECES,
  ...(["start_pos", "end_pos", "white_to_move", "black_to_move", "empty", "wl_value", "d_value"] as const),
  ...CASTLING.map(castlingName),
  ...SIGNALS,
  "end_think",
  "start_think",
];

/** From full ids to the board head's numbers; -1 where it has none. */
export const BOARD_INDEX_OF_TOKEN: Int16Array = Int16Array.from(VOCABULARY, (name) => BOARD_VOCABULARY.indexOf(name));
/** From the board head's numbers to full ids. */
export const TOKEN_OF_BOARD_INDEX: Uint16Array = Uint16Array.from(BOARD_VOCABULARY, tokenId);

/** Tokens of a position in the encoding board68. */
export const BOARD_TOKENS = 68;

/**
 * Writes 68 ids of the full vocabulary: start_pos, the squares a1, b1 .. h8, end_pos, castling rights, side to move. The
 * en-passant square and the clocks are not in it.
 */
export function encodeBoard68(position: Position, out: Uint16Array): void {
  out.set(batchOf(position).board68(1));
}

/** The FEN of a board, with no en-passant square and fresh clocks. */
export function decodeBoard68(tokens: ArrayLike<number>): string {
  const names = Array.from(tokens, (id) => VOCABULARY[id] ?? `token ${id}`);
  const wrong = (at: number, expected: string): never => {
    throw new UserError("BOARD68", `board68: token ${at} is ${names[at] ?? "missing"}, expected ${expected}.`);
  };
  if (names[0] !== "start_pos") wrong(0, "start_pos");
  if (names[65] !== "end_pos") wrong(65, "end_pos");
  if (!names[66]?.startsWith("castling_")) wrong(66, "castling rights");
  if (names[67] !== "white_to_move" && names[67] !== "black_to_move") wrong(67, "a side to move");
  if (names.length !== BOARD_TOKENS) wrong(BOARD_TOKENS, "no more than 68 tokens");
  const ranks: string[] = [];
  for (let rank = 7; rank >= 0; rank--) {
    let text = "";
    for (let at = 1 + rank * 8; at < 9 + rank * 8; at++) {
      if (names[at] === "empty") text += ".";
      else if ((PIECES as readonly string[]).includes(names[at])) text += names[at];
      else wrong(at, "a piece or empty");
    }
    ranks.push(text.replace(/\.+/g, (empty) => String(empty.length)));
  }
  return `${ranks.join("/")} ${names[67][0]} ${names[66].slice("castling_".length)} - 0 1`;
}
