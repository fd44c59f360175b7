/**
 * How heads that see like pieces look at a board in the prefix pass. They need nothing of other boards, so they need no
 * cache: a square sees the squares of its own board that a piece could reach from it, the other tokens of a board see all
 * of it, and tokens of no board see only themselves.
 */
import { BOARD_TOKENS } from "#encodings";
import { attention, concat, constant, type Tensor } from "#tensor";
import { seesLikePiece } from "../piece-sights.js";

/** Queries, keys and values of some heads, [t, n, their width] each; keys and values may be of more tokens. */
export type QueriesKeysValues = [q: Tensor, k: Tensor, v: Tensor];

/** What some heads make of them, [t, n, their width]. */
export type Sight = (parts: QueriesKeysValues, heads: number) => Tensor;

const SLOTS = BOARD_TOKENS + 1; // the last is of tokens of no board
const isSquare = (slot: number) => slot >= 1 && slot <= 64;

/** Whether a head sees one slot of a board from another; both may be the slot of no board. */
function sees(head: number, from: number, to: number): boolean {
  if (from === BOARD_TOKENS || to === BOARD_TOKENS) return from === to;
  return !isSquare(from) || (isSquare(to) && seesLikePiece(head, from - 1, to - 1));
}

const table = (heads: number, slots: number): number[] =>
  Array.from({ length: heads * slots * slots }, (_, i) =>
    Number(sees(Math.floor(i / slots ** 2), Math.floor(i / slots) % slots, i % slots)),
  );

/** Of tokens of no board. */
export const alone: Sight = ([, , v]) => v;

/** Of the 68 tokens of a board. */
export const onBoard: Sight = ([q, k, v], heads) =>
  attention(q, k, v, heads, constant(table(heads, BOARD_TOKENS), [1, heads, BOARD_TOKENS, BOARD_TOKENS], "bool"));

/** Of games whose positions have so many tokens each, a board's first. */
export const inGames =
  (positionTokens: number): Sight =>
  (parts, heads) => {
    const [t, n, width] = parts[0].shape;
    const context = (t as number) / positionTokens;
    const boards = typeof n === "number" ? context * n : `${context}${n}`;
    const apart = (x: Tensor) => x.reshape([context, positionTokens, n, width]);
    const board = (x: Tensor) => apart(x).slice(1, 0, BOARD_TOKENS).transpose([1, 0, 2, 3]);
    const [q, k, v] = parts.map((x) => board(x).reshape([BOARD_TOKENS, boards, width]));
    const seen = onBoard([q, k, v], heads).reshape([BOARD_TOKENS, context, n, width]).transpose([1, 0, 2, 3]);
    return concat([seen, apart(parts[2]).slice(1, BOARD_TOKENS)], 1).reshape([t, n, width]);
  };

/** Of sequences whose boards stand anywhere, by block ids and slots, both [n, t]. */
export const inBlocks =
  (blocks: Tensor, slots: Tensor): Sight =>
  ([q, k, v], heads) => {
    const [n, t] = blocks.shape;
    const places = slots.oneHot(SLOTS).reshape([n, 1, t, SLOTS]);
    const seen = places
      .matmul(constant(table(heads, SLOTS), [1, heads, SLOTS, SLOTS]))
      .matmul(places, { transB: true });
    const isSame = blocks.reshape([n, 1, t, 1]).equal(blocks.reshape([n, 1, 1, t]));
    return attention(q, k, v, heads, seen.greater(0.5).and(isSame));
  };
