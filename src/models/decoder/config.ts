import * as z from "zod";
import { normalQuantile } from "#base";
import type { Schema } from "../family.js";

/** The shape of a decoder. */
export interface DecoderConfig {
  width: number;
  layers: number;
  heads: number;
  hidden: number;
  frequencies: number;
  buckets: number;
  valueHidden: number;
  slots: boolean;
  squares: number;
  movesBySquares: boolean;
  pieceHeads: number;
}

const count = z.int().min(1).max(8192);

export const DECODER_SCHEMA: Schema<DecoderConfig> = z.strictObject({
  width: count.describe("of a token between layers"),
  layers: count.describe("of attention and feed-forward, one after another"),
  heads: count.describe("of the attention, a divisor of the width"),
  hidden: count.describe("units of the gated feed-forward layers"),
  frequencies: count.describe("learned ones, by which a value is shown: a cosine and a sine each"),
  buckets: count.min(2).describe("of win minus loss, and of draws"),
  valueHidden: count.describe("units inside the two value heads"),
  slots: z
    .boolean()
    .describe(
      "a token of a board also has an embedding of its slot, 0 to 67, beside its rotary position in the sequence",
    ),
  squares: z
    .int()
    .min(0)
    .max(1024)
    .describe("width of what the squares of a move say of it to both policies; 0: only the token that speaks does"),
  movesBySquares: z
    .boolean()
    .describe("a move is shown by its two squares, as slots of a board, besides its own token"),
  pieceHeads: z
    .int()
    .min(0)
    .default(0) // files from before it existed lack it
    .describe(
      "heads with which, in the prefix pass, a square sees only where a rook, a bishop, or a knight or king could go from it, in turn",
    ),
});

/** Sizes of decoders by name. */
export const DECODER_SIZES = {
  tiny: {
    width: 32,
    layers: 2,
    heads: 2,
    hidden: 64,
    frequencies: 16,
    buckets: 100,
    valueHidden: 32,
    slots: true,
    squares: 16,
    movesBySquares: true,
    pieceHeads: 0,
  }, // for tests
  small: {
    width: 128,
    layers: 5,
    heads: 4,
    hidden: 352,
    frequencies: 64,
    buckets: 100,
    valueHidden: 128,
    slots: true,
    squares: 32,
    movesBySquares: true,
    pieceHeads: 0,
  }, // trains on two cores
  published: {
    width: 1024,
    layers: 12,
    heads: 16,
    hidden: 2816,
    frequencies: 128,
    buckets: 100,
    valueHidden: 512,
    slots: false,
    squares: 0,
    movesBySquares: false,
    pieceHeads: 0,
  }, // of ChessDecoder
} satisfies Record<string, DecoderConfig>;

/** What is wrong with a config whose fields are each right. */
export function checkDecoder({ width, heads, slots, movesBySquares, pieceHeads }: DecoderConfig): string | undefined {
  if (width % heads !== 0) return `heads is ${heads}, which does not divide the width ${width}.`;
  if ((width / heads) % 2 !== 0) return `a head is ${width / heads} wide; rotary positions need an even number.`;
  if (movesBySquares && !slots) return "movesBySquares is true, but squares are slots, and slots is false.";
  if (pieceHeads > 0 && !slots) return `pieceHeads is ${pieceHeads}, but squares are slots, and slots is false.`;
  if (pieceHeads >= heads) return `pieceHeads is ${pieceHeads}; of ${heads} heads one at least must see all tokens.`;
  return undefined;
}

/** Win minus loss that each bucket stands for: dense around 0, 0.4 standard deviations of a normal curve, within -1 to 1. */
export const winLossCentres = (buckets: number): number[] =>
  Array.from({ length: buckets }, (_, i) => Math.max(-1, Math.min(1, 0.4 * normalQuantile((i + 0.5) / buckets))));

/** The share of draws that each bucket stands for, evenly from 0 to 1. */
export const drawCentres = (buckets: number): number[] => Array.from({ length: buckets }, (_, i) => i / (buckets - 1));
