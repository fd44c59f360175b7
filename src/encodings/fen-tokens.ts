import { UserError } from "#base";
import type { Position } from "#chess";
import { batchOf } from "./batch.js";

/** The characters of fen-tokens by their number; "b" is a file, a bishop and a side at once. */
export const FEN_TOKEN_CHARACTERS = "0123456789abcdefghpnrkqPBNRQKw.";
/** Tokens of a position in the encoding fen-tokens. */
export const FEN_TOKENS = 77;

/**
 * Writes 77 tokens: side to move; squares from a8 to h1; castling (4), en-passant square (2), halfmove clock (3) and move
 * number (3), each padded with "." on the right. Clocks beyond 999 are written as 999. As in DeepMind's searchless chess.
 */
export function encodeFenTokens(position: Position, out: Uint8Array): void {
  out.set(batchOf(position).fenTokens(1));
}

/** The FEN that the tokens spell. */
export function decodeFenTokens(tokens: ArrayLike<number>): string {
  const text = Array.from(tokens, (token) => FEN_TOKEN_CHARACTERS[token] ?? "?").join("");
  const fields = text.match(/^([wb])([pnbrqkPNBRQK.]{64})(K?Q?k?q?\.*)(\.\.|[a-h][36])([\d.]{3})([\d.]{3})$/);
  if (fields === null || fields[3].length !== 4) {
    throw new UserError("FEN_TOKENS", `fen-tokens spell "${text}", which is not 77 tokens of one position.`);
  }
  const [, side, squares, castling, ep, clock, number] = fields;
  const board = squares.match(/.{8}/g)!.map((rank) => rank.replace(/\.+/g, (empty) => String(empty.length)));
  const bare = (field: string) => field.replaceAll(".", "");
  return `${board.join("/")} ${side} ${bare(castling) || "-"} ${bare(ep) || "-"} ${bare(clock)} ${bare(number)}`;
}

const SQUARES_AT = 1; // where the fields begin
const CASTLING_AT = 65;
const EN_PASSANT_AT = 69;
const tokenOf = (character: string) => FEN_TOKEN_CHARACTERS.indexOf(character);
const [BLACK, WHITE, EMPTY] = ["b", "w", "."].map(tokenOf);
const [THREE, SIX] = ["3", "6"].map(tokenOf);

/** Each token with the colour of the piece it means swapped. */
const OTHER_COLOUR = Uint8Array.from(FEN_TOKEN_CHARACTERS, (character, token) => {
  if (!"pnbrqkPNBRQK".includes(character)) return token;
  return tokenOf(character === character.toLowerCase() ? character.toUpperCase() : character.toLowerCase());
});
const isWhite = (token: number) => "PNBRQK".includes(FEN_TOKEN_CHARACTERS[token]);

/** Turns the tokens of a position with Black to move top to bottom and swaps the colours: the same game, White to move. */
export function turnFenTokens(tokens: Uint8Array): void {
  if (tokens[0] !== BLACK) return;
  tokens[0] = WHITE;
  const board = tokens.slice(SQUARES_AT, CASTLING_AT);
  for (let square = 0; square < 64; square++) tokens[SQUARES_AT + square] = OTHER_COLOUR[board[square ^ 56]];
  const rights = [...tokens.subarray(CASTLING_AT, EN_PASSANT_AT)].filter((token) => token !== EMPTY);
  const swapped = rights.map((token) => OTHER_COLOUR[token]);
  const ordered = [...swapped.filter(isWhite), ...swapped.filter((token) => !isWhite(token))];
  tokens.fill(EMPTY, CASTLING_AT, EN_PASSANT_AT);
  tokens.set(ordered, CASTLING_AT);
  const rank = tokens[EN_PASSANT_AT + 1];
  if (rank === SIX) tokens[EN_PASSANT_AT + 1] = THREE;
  else if (rank === THREE) tokens[EN_PASSANT_AT + 1] = SIX;
}
