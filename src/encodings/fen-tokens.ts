import { UserError } from "#base";
import type { Position } from "#chess";
import { batchOf } from "./batch.js";

/** The characters of fen-tokens by their number; "b" is a file, a bishop and a side at once. */
export const FEN_TOKEN_CHARACTERS = "0123456789abcdefghpnrkqPBNRQKw.";
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
