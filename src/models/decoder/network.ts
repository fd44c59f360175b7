/**
 * ChessDecoder: a transformer that writes positions, moves and values as one language. Every sequence is read twice by
 * the same layers. The causal pass sees no later token and writes boards; in the prefix pass the 68 tokens of a board see
 * each other too, and moves and values are read from it. docs/decoder.md shows both.
 */
import type { Random } from "#base";
import { BOARD_TOKENS, BOARD_VOCABULARY, MOVE_TABLES, tokenId, VOCABULARY } from "#encodings";
import {
  type AttentionMask,
  attention,
  concat,
  constant,
  type Embedding,
  embedding,
  type Linear,
  linear,
  normal,
  type Parameter,
  parameter,
  parametersOf,
  type RmsNorm,
  rmsNorm,
  rotary,
  rotaryTables,
  swiglu,
  type Tensor,
} from "#tensor";
import { type DecoderConfig, drawCentres, winLossCentres } from "./config.js";
import { SquareMoves } from "./move-heads.js";
import type { QueriesKeysValues, Sight } from "./sights.js";

/** Tokens of a position in a game: its board, the move, and its value in two tokens. */
export const POSITION_TOKENS = BOARD_TOKENS + 3;
/** The slot of a token that is none of a board. */
export const NO_SLOT = BOARD_TOKENS;

const WL_TOKEN = tokenId("wl_value");
const D_TOKEN = tokenId("d_value");
const MOVES = MOVE_TABLES.moves1924.size;

/** What a sequence is made of; n sequences of t tokens. */
export interface DecoderInput {
  tokens: Tensor; // [n, t], int32, of the full vocabulary
  values: Tensor; // [n, t], what a wl_value or d_value token holds; read nowhere else
  slots: Tensor; // [t, 1] or [t, n], int32: the slot of each token
}

/** Cosines and sines of the rotary positions (RoPE) of t tokens, [t, head width / 2] each. */
export interface Rotations {
  cosines: Tensor;
  sines: Tensor;
}

/** What queries, keys and values [t, n, width] of a layer become; the layer's number tells caches apart. */
export type Attend = (q: Tensor, k: Tensor, v: Tensor, layer: number) => Tensor;

class Layer {
  readonly norm1: RmsNorm;
  readonly q: Linear;
  readonly k: Linear;
  readonly v: Linear;
  readonly out: Linear;
  readonly norm2: RmsNorm;
  readonly gate: Linear;
  readonly up: Linear;
  readonly down: Linear;

  constructor(
    private readonly heads: number,
    width: number,
    hidden: number,
    random: Random,
  ) {
    const plain = (inputs: number, outputs: number) => linear(inputs, outputs, random, { bias: false });
    this.norm1 = rmsNorm(width);
    this.q = plain(width, width);
    this.k = plain(width, width);
    this.v = plain(width, width);
    this.out = plain(width, width);
    this.norm2 = rmsNorm(width);
    this.gate = plain(width, hidden);
    this.up = plain(width, hidden);
    this.down = plain(hidden, width);
  }

  /** x [t * n, width] -> the same; t is the number of tokens. */
  apply(x: Tensor, { cosines, sines }: Rotations, attend: (q: Tensor, k: Tensor, v: Tensor) => Tensor): Tensor {
    const h = this.norm1.apply(x);
    const [q, k, v] = [this.q, this.k, this.v].map((part) => part.apply(h).reshape([cosines.dim(0), -1, x.dim(1)]));
    const turn = (y: Tensor) => rotary(y, cosines, sines, this.heads);
    const y = x.add(this.out.apply(attend(turn(q), turn(k), v).reshape(x.shape)));
    const g = this.norm2.apply(y);
    return y.add(this.down.apply(swiglu(this.gate.apply(g), this.up.apply(g))));
  }
}

/** A value as cosines and sines of learned frequencies, and from there as wide as a token. */
class ValueEncoder {
  readonly frequencies: Parameter; // [1, frequencies], in half turns
  readonly out: Linear;

  constructor({ width, frequencies }: DecoderConfig, random: Random) {
    this.frequencies = parameter([1, frequencies], normal(1, random));
    this.out = linear(2 * frequencies, width, random);
  }

  /** Values [...] -> [..., width] */
  apply(values: Tensor): Tensor {
    const angles = values.reshape([-1, 1]).mul(this.frequencies.mul(Math.PI));
    const encoded = this.out.apply(concat([angles.cos(), angles.sin()], -1));
    return encoded.reshape([...values.shape, encoded.dim(-1)]);
  }
}

/** A value as a distribution over buckets. */
class ValueHead {
  readonly inner: Linear;
  readonly out: Linear;

  constructor({ width, valueHidden, buckets }: DecoderConfig, random: Random) {
    this.inner = linear(width, valueHidden, random);
    this.out = linear(valueHidden, buckets, random);
  }

  apply = (x: Tensor): Tensor => this.out.apply(this.inner.apply(x).silu());
}

/** What a move's token is shown by besides itself: the slots of the square it leaves and of the one it reaches. */
class MoveSquares {
  readonly from: Linear;
  readonly to: Linear;

  constructor({ width }: DecoderConfig, random: Random) {
    this.from = linear(width, width, random, { bias: false });
    this.to = linear(width, width, random, { bias: false });
  }

  /** Tokens [t, n] and the table of slots [69, width] -> [t, n, width], zeros where a token is no move. */
  apply(tokens: Tensor, slots: Tensor): Tensor {
    const squares = slots.slice(0, 1, 65);
    const shown = (side: Linear, squareOf: readonly number[]) => {
      const rows = side.apply(squares);
      const table = concat([rows, rows.slice(0, 0, 1).mul(0)], 0); // [65, width], the last for what is no move
      return table.gather(constant(squareOf, [VOCABULARY.length], "int32").gather(tokens));
    };
    return shown(this.from, FROM_SQUARES).add(shown(this.to, TO_SQUARES));
  }
}

const NO_SQUARE = 64;
const SQUARES = VOCABULARY.map((_, token) => (token < MOVES ? MOVE_TABLES.moves1924.named(token, false) : undefined));
const FROM_SQUARES = SQUARES.map((move) => move?.from ?? NO_SQUARE);
const TO_SQUARES = SQUARES.map((move) => move?.to ?? NO_SQUARE);

/** A transformer that continues texts of boards, moves and values. */
export class Decoder {
  readonly tokens: Embedding;
  readonly slots: Embedding | undefined;
  readonly moveSquares: MoveSquares | undefined;
  readonly value: ValueEncoder;
  readonly layers: readonly Layer[];
  readonly norm: RmsNorm;
  readonly board: Linear;
  readonly policy: Linear;
  readonly thinking: Linear;
  readonly squares: SquareMoves | undefined;
  readonly winLoss: ValueHead;
  readonly draw: ValueHead;

  constructor(
    readonly config: DecoderConfig,
    random: Random,
  ) {
    const { width, layers, heads, hidden, slots, squares, movesBySquares } = config;
    const deviation = 0.5; // with slots, a token's variance is 0.5; the first norm makes it 1
    this.tokens = embedding(VOCABULARY.length, width, random, deviation);
    if (slots) this.slots = embedding(BOARD_TOKENS + 1, width, random, deviation);
    this.value = new ValueEncoder(config, random);
    this.layers = Array.from({ length: layers }, () => new Layer(heads, width, hidden, random));
    this.norm = rmsNorm(width);
    this.board = linear(width, BOARD_VOCABULARY.length, random);
    this.policy = linear(width, MOVES, random);
    this.thinking = linear(width, MOVES, random);
    if (squares > 0) this.squares = new SquareMoves(config, random);
    this.winLoss = new ValueHead(config, random);
    this.draw = new ValueHead(config, random);
    if (movesBySquares) this.moveSquares = new MoveSquares(config, random);
    parametersOf(this); // names them
  }

  /** What the layers read, [t, n, width]. */
  embed({ tokens, values, slots }: DecoderInput): Tensor {
    const spoken = tokens.transpose(); // [t, n]
    const x = this.tokens.apply(spoken);
    const isValue = spoken.equal(WL_TOKEN).or(spoken.equal(D_TOKEN));
    const shown = isValue.reshape([...spoken.shape, 1]).where(this.value.apply(values.transpose()), x);
    if (!this.slots) return shown;
    const placed = shown.add(this.slots.apply(slots));
    return this.moveSquares ? placed.add(this.moveSquares.apply(spoken, this.slots.weight)) : placed;
  }

  /** Rotary positions `0 .. length - 1`. */
  rotations(length: number): Rotations {
    return rotaryTables(length, this.config.width / this.config.heads);
  }

  /** x [t, n, width] through all layers -> [t * n, width], ready for the heads. */
  run(x: Tensor, rotations: Rotations, attend: Attend): Tensor {
    let y = x.reshape([-1, this.config.width]);
    this.layers.forEach((layer, i) => {
      y = layer.apply(y, rotations, (q, k, v) => attend(q, k, v, i));
    });
    return this.norm.apply(y);
  }

  /** The same without a cache: whole sequences of a known length, each token seeing what the mask lets it. */
  read(x: Tensor, mask: AttentionMask): Tensor {
    const { heads } = this.config;
    return this.run(x, this.rotations(x.dim(0) as number), (q, k, v) => attention(q, k, v, heads, mask));
  }

  /** The prefix pass without a cache: heads that see like pieces look by `sight`, the others as the mask lets them. */
  readPrefix(x: Tensor, mask: AttentionMask, sight: Sight): Tensor {
    return this.run(x, this.rotations(x.dim(0) as number), (q, k, v) =>
      this.lookAround([q, k, v], sight, (parts, heads) => attention(...parts, heads, mask)),
    );
  }

  /** Attention of the prefix pass [t, n, width]: of heads that see like pieces by `sight`, of the others by `others`. */
  lookAround([q, k, v]: QueriesKeysValues, sight: Sight, others: Sight): Tensor {
    const { heads, pieceHeads, width } = this.config;
    if (pieceHeads === 0) return others([q, k, v], heads);
    const end = (pieceHeads * width) / heads;
    const near = sight([q.slice(2, 0, end), k.slice(2, 0, end), v.slice(2, 0, end)], pieceHeads);
    return concat([near, others([q.slice(2, end), k.slice(2, end), v.slice(2, end)], heads - pieceHeads)], -1);
  }

  /**
   * Logits [m, 1924] of moves: what a policy says at m tokens [m, width], and what the squares of the boards that the moves
   * are made on say, [g, 64, n, width] with g * n = m, if they are given.
   */
  movesAt(speakers: Tensor, squares: Tensor | undefined, head: "policy" | "thinking"): Tensor {
    const spoken = this[head].apply(speakers);
    return this.squares && squares ? spoken.add(this.squares.apply(squares)) : spoken;
  }

  /** Win minus loss that logits [m, buckets] expect, [m]. */
  expectedWinLoss = (logits: Tensor): Tensor => expected(logits, winLossCentres(this.config.buckets));
  /** The share of draws that logits [m, buckets] expect, [m]. */
  expectedDraw = (logits: Tensor): Tensor => expected(logits, drawCentres(this.config.buckets));
}

function expected(logits: Tensor, centres: readonly number[]): Tensor {
  const mean = logits.softmax().matmul(constant(centres, [centres.length, 1])); // [m, 1]
  return mean.reshape([logits.dim(0)]);
}

/** The prefix pass of games, in which every position has its POSITION_TOKENS tokens and none is left out. */
export const GAME_BLOCKS = { size: POSITION_TOKENS, open: BOARD_TOKENS } as const;

/** The mask of the prefix pass for any sequences: block ids [n, t] -> [n, 1, t, t], true where a token may look. */
export function prefixMask(blocks: Tensor): Tensor {
  const [n, t] = blocks.shape;
  const length = t as number;
  const before = Array.from({ length: length * length }, (_, i) => (i % length <= Math.floor(i / length) ? 1 : 0));
  const isSame = blocks.reshape([n, 1, length, 1]).equal(blocks.reshape([n, 1, 1, length]));
  return isSame.or(constant(before, [length, length], "bool"));
}
