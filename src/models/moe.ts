/**
 * Transformers that value every legal move of a position at once, as in ChessBot Byte, with a mixture of experts for the
 * feed-forward layers. 77 tokens spell the position; each move asked about is a query that sees the position and itself,
 * never another query nor any answer. So all moves of a position cost one pass, and no label can leak into a prediction.
 */

import * as z from "zod";
import type { Random } from "#base";
import { bucketCentre, FEN_TOKEN_CHARACTERS, FEN_TOKENS, MOVE_TABLES } from "#encodings";
import {
  attention,
  concat,
  constant,
  type Embedding,
  type Experts,
  embedding,
  experts,
  input,
  type LayerNorm,
  type Linear,
  layerNorm,
  linear,
  normal,
  type Parameter,
  parameter,
  parametersOf,
  queryAttention,
  swiglu,
  type Tensor,
} from "#tensor";
import { encodeActionInput } from "./action-input.js";
import { defineFamily, type Inference } from "./family.js";
import { seesLikePiece } from "./piece-sights.js";
import { positionKey } from "./position-key.js";

export const POSITION_CODES = ["learned", "sinusoidal"] as const;
export const ACTION_CODES = ["table", "squares"] as const;

/** The shape of a transformer with experts. */
export interface MoeConfig {
  width: number;
  layers: number;
  heads: number;
  hidden: number;
  experts: number;
  topK: number;
  gated: boolean;
  positions: (typeof POSITION_CODES)[number];
  actions: (typeof ACTION_CODES)[number];
  linked: boolean;
  pieceHeads: number;
  turned: boolean;
  buckets: number;
}

const count = z.int().min(1).max(4096);

const SCHEMA = z.strictObject({
  width: count.describe("of the rows between layers"),
  layers: count.describe("blocks of attention and experts"),
  heads: count.describe("of the attention, a divisor of the width"),
  hidden: count.describe("units inside each expert"),
  experts: z.int().min(0).max(256).describe("0: one feed-forward layer of topK * hidden units, which costs as much"),
  topK: count.describe("experts asked for each row, their answers weighed by a softmax over them"),
  gated: z.boolean().describe("silu(gate) * up inside the experts, or silu(up) alone"),
  positions: z.enum(POSITION_CODES).describe("how a token knows its index"),
  actions: z.enum(ACTION_CODES).describe("a row for each of 1968 moves, or that plus one for each of its squares"),
  linked: z
    .boolean()
    .default(false)
    .describe("in every layer a query also gets the features of the squares its move leaves and reaches"), // files from before it existed lack it
  pieceHeads: z
    .int()
    .min(0)
    .default(0)
    .describe(
      "heads with which a square sees only where a rook, a bishop, or a knight or king could go from it, in turn",
    ),
  turned: z.boolean().describe("Black's positions and moves are shown as White's, top to bottom"),
  buckets: count.min(2).describe("of the win probability"),
});

const PUBLISHED: MoeConfig = {
  width: 64,
  layers: 4,
  heads: 4,
  hidden: 256,
  experts: 8,
  topK: 2,
  gated: true,
  positions: "learned",
  actions: "table",
  linked: false,
  pieceHeads: 0,
  turned: false,
  buckets: 128,
};

/** Sizes of transformers with experts, by name. */
export const MOE_SIZES = {
  tiny: { ...PUBLISHED, width: 32, layers: 2, hidden: 32, experts: 4, actions: "squares", turned: true }, // for tests
  base: { ...PUBLISHED, actions: "squares", turned: true },
  linked: { ...PUBLISHED, width: 96, heads: 6, hidden: 96, actions: "squares", linked: true, turned: true }, // ranks moves best
  published: PUBLISHED, // of ChessBot Byte
} satisfies Record<string, MoeConfig>;

/** What is wrong with a config whose fields are each right. */
export function checkMoe({ width, heads, pieceHeads, experts, topK }: MoeConfig): string | undefined {
  if (width % heads !== 0) return `heads is ${heads}, which does not divide the width ${width}.`;
  if (pieceHeads > heads) return `pieceHeads is ${pieceHeads}, but there are only ${heads} heads.`;
  if (width % 2 !== 0) return `width is ${width}; it must be even.`;
  if (experts > 0 && topK > experts) return `topK is ${topK}, but there are only ${experts} experts.`;
  return undefined;
}

/** One feed-forward layer for all tokens: the dense peer of the experts. */
class FeedForward {
  readonly gate: Linear | undefined;
  readonly up: Linear;
  readonly down: Linear;

  constructor({ width, hidden, topK, gated }: MoeConfig, random: Random) {
    const units = topK * hidden;
    if (gated) this.gate = linear(width, units, random, { bias: false });
    this.up = linear(width, units, random, { bias: false });
    this.down = linear(units, width, random, { bias: false });
  }

  apply(x: Tensor): Tensor {
    const up = this.up.apply(x);
    return this.down.apply(this.gate ? swiglu(this.gate.apply(x), up) : up.silu());
  }
}

/** What a layer's router thought of each line, for the balance loss and for pictures. */
export interface Routing {
  logits: Tensor; // [tokens, experts]
  choices: Tensor; // [tokens, topK]
}

class Layer {
  readonly norm1: LayerNorm;
  readonly q: Linear;
  readonly k: Linear;
  readonly v: Linear;
  readonly out: Linear;
  readonly link: Linear | undefined; // from what stands on a move's two squares to its query
  readonly norm2: LayerNorm;
  readonly experts: Experts | undefined;
  readonly dense: FeedForward | undefined;

  constructor(
    private readonly config: MoeConfig,
    random: Random,
  ) {
    const { width, hidden, topK, gated } = config;
    this.norm1 = layerNorm(width);
    this.q = linear(width, width, random);
    this.k = linear(width, width, random);
    this.v = linear(width, width, random);
    this.out = linear(width, width, random);
    if (config.linked) this.link = linear(2 * width, width, random, { bias: false });
    this.norm2 = layerNorm(width);
    if (config.experts > 0)
      this.experts = experts({ width, hidden, experts: config.experts, chosen: topK, gated }, random);
    else this.dense = new FeedForward(config, random);
  }

  /**
   * Where the queries of one position look, among its tokens: states and queries [77 + queries, 1, width] -> shares
   * [heads, queries, 77]. They add up to less than 1 by what a query gives to itself.
   */
  gaze(x: Tensor): Tensor {
    const { heads, width } = this.config;
    const byHead = (rows: Tensor) => rows.reshape([rows.dim(0), heads, width / heads]).transpose([1, 0, 2]);
    const h = this.norm1.apply(x);
    const [stateK, ownK] = cut(this.k.apply(h)).map(byHead);
    const q = byHead(cut(this.q.apply(h))[1]).mul(1 / Math.sqrt(width / heads));
    const own = q.mul(ownK).sum(-1, { keep: true }); // [heads, queries, 1]
    return concat([q.matmul(stateK, { transB: true }), own], -1)
      .softmax()
      .slice(2, 0, FEN_TOKENS);
  }

  /** States and queries [77 + queries, n, width] -> the same; of the queries alone, if nobody reads the states after. */
  apply(x: Tensor, squares: readonly Tensor[], isLast: boolean): { y: Tensor; routing: Routing | undefined } {
    const { heads, pieceHeads } = this.config;
    const h = this.norm1.apply(x);
    const [stateK, ownK] = cut(this.k.apply(h));
    const [stateV, ownV] = cut(this.v.apply(h));
    let y: Tensor;
    if (isLast) {
      const [states, asking] = cut(h);
      const seen = queryAttention({ q: this.q.apply(asking), k: ownK, v: ownV }, stateK, stateV, heads);
      y = cut(x)[1].add(this.told(this.out.apply(seen), states, squares));
    } else {
      const [stateQ, q] = cut(this.q.apply(h));
      const seen = queryAttention({ q, k: ownK, v: ownV }, stateK, stateV, heads);
      const out = this.out.apply(
        concat([attention(stateQ, stateK, stateV, heads, pieceHeads > 0 ? sights(heads, pieceHeads) : "all"), seen], 0),
      );
      const [stateOut, queryOut] = cut(out);
      y = x.add(this.link ? concat([stateOut, this.told(queryOut, cut(h)[0], squares)], 0) : out);
    }
    const normed = this.norm2.apply(y);
    if (this.dense) return { y: y.add(this.dense.apply(normed)), routing: undefined };
    const { y: answer, logits, choices } = this.experts!.apply(normed);
    return { y: y.add(answer), routing: { logits, choices } };
  }

  /** Adds to each query [queries, n, width] what the states [77, n, width] hold on its squares, one-hot [n, queries, 77] each. */
  private told(queries: Tensor, states: Tensor, squares: readonly Tensor[]): Tensor {
    if (!this.link) return queries;
    const board = states.transpose([1, 0, 2]); // [n, 77, width]
    const found = squares.map((square) => square.matmul(board)); // [n, queries, width]
    return queries.add(this.link.apply(concat(found, -1)).transpose([1, 0, 2]));
  }
}

/** Tokens of a position's squares begin here; the first is a8, the last h1. */
const FIRST_SQUARE = 1;
const tokenOfSquare = (square: number): number => FIRST_SQUARE + (square ^ 56);

/** Which tokens a token sees with each head, [1, heads, 77, 77]: with the first ones a square sees what a piece there could reach. */
function sights(heads: number, pieceHeads: number): Tensor {
  const isSquare = (token: number) => token >= FIRST_SQUARE && token < FIRST_SQUARE + 64;
  const seen = Array.from({ length: heads }, (_, head) =>
    Array.from({ length: FEN_TOKENS ** 2 }, (_, i) => {
      const [query, key] = [Math.floor(i / FEN_TOKENS), i % FEN_TOKENS];
      if (head >= pieceHeads || !isSquare(query)) return 1;
      return Number(isSquare(key) && seesLikePiece(head, query - FIRST_SQUARE, key - FIRST_SQUARE));
    }),
  );
  return constant(seen.flat(), [1, heads, FEN_TOKENS, FEN_TOKENS], "bool");
}

/** The states and the queries among tokens [77 + queries, n, ...]. */
function cut(x: Tensor): readonly Tensor[] {
  const all = x.dim(0);
  if (typeof all === "number") return x.split(0, [FEN_TOKENS, all - FEN_TOKENS]);
  return [x.slice(0, 0, FEN_TOKENS), x.slice(0, FEN_TOKENS)];
}

/** Vaswani et al. 2017: sines and cosines of wavelengths from 2 pi to 20000 pi. */
function sinusoids(count: number, width: number): Tensor {
  const values = Array.from({ length: count * width }, (_, i) => {
    const [index, channel] = [Math.floor(i / width), i % width];
    const angle = index / 10_000 ** ((channel & ~1) / width);
    return channel % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });
  return constant(values, [count, 1, width]);
}

const { actions1968 } = MOVE_TABLES;

/** Of each move in actions1968 the square it leaves, the one it reaches, and what a pawn becomes there (0: nothing). */
const ACTION_PARTS = (() => {
  const roles = [undefined, "queen", "rook", "bishop", "knight"];
  const named = Array.from({ length: actions1968.size }, (_, action) => actions1968.named(action, false)!);
  return [
    { rows: 64, of: named.map(({ from }) => from as number) },
    { rows: 64, of: named.map(({ to }) => to as number) },
    { rows: roles.length, of: named.map(({ promotion }) => roles.indexOf(promotion)) },
  ];
})();

/** What a network says of moves. */
export interface ActionValues {
  logits: Tensor; // [queries, n, buckets]
  routing: Routing[]; // of each layer that has experts
  inputs: Tensor[]; // of each layer, [77 + queries, n, width]
}

/** A transformer with experts that values every legal move in one pass. */
export class Moe {
  readonly tokens: Embedding;
  readonly actions: Embedding;
  readonly parts: readonly Embedding[]; // of from, to and promotion, if moves are seen as such
  readonly places: Parameter | undefined; // [77 + 1, 1, width]; the last is every query's
  readonly layers: readonly Layer[];
  readonly norm: LayerNorm;
  readonly head: Linear;

  constructor(
    readonly config: MoeConfig,
    random: Random,
  ) {
    const { width, layers, positions, actions, buckets } = config;
    const deviation = 1 / Math.sqrt(width); // times the root of the width in `forward`: 1
    this.tokens = embedding(FEN_TOKEN_CHARACTERS.length, width, random, deviation);
    this.actions = embedding(actions1968.size, width, random, deviation);
    this.parts = actions === "squares" ? ACTION_PARTS.map(({ rows }) => embedding(rows, width, random, deviation)) : [];
    if (positions === "learned") this.places = parameter([FEN_TOKENS + 1, 1, width], normal(1, random));
    this.layers = Array.from({ length: layers }, () => new Layer(config, random));
    this.norm = layerNorm(width);
    this.head = linear(width, buckets, random);
    parametersOf(this); // names them
  }

  /** tokens [n, 77] and actions [n, queries], both int32; one of n and queries may be unknown. */
  forward(tokens: Tensor, actions: Tensor): ActionValues {
    const { width, layers } = this.config;
    const [statePlaces, queryPlace] = cut(this.places ?? sinusoids(FEN_TOKENS + 1, width));
    const scale = Math.sqrt(width);
    const states = this.tokens.apply(tokens.transpose()).mul(scale).add(statePlaces); // [77, n, width]
    const asked = actions.transpose(); // [queries, n]
    let moves = this.actions.apply(asked);
    this.parts.forEach((part, i) => {
      const table = constant(ACTION_PARTS[i].of, [actions1968.size], "int32");
      moves = moves.add(part.apply(table.gather(asked)));
    });
    const queries = moves.mul(scale).add(queryPlace); // [queries, n, width]
    const squares = this.config.linked
      ? ACTION_PARTS.slice(0, 2).map(({ of }) =>
          constant(of.map(tokenOfSquare), [actions1968.size], "int32").gather(actions).oneHot(FEN_TOKENS),
        )
      : [];
    let x = concat([states, queries], 0);
    const routing: Routing[] = [];
    const inputs: Tensor[] = [];
    this.layers.forEach((layer, i) => {
      const { y, routing: routed } = layer.apply(x, squares, i === layers - 1);
      if (routed) routing.push(routed);
      inputs.push(x);
      x = y;
    });
    return { logits: this.head.apply(this.norm.apply(x)), routing, inputs };
  }

  /** The expected win probability of each move, [n, queries], from its logits. */
  values({ logits }: ActionValues): Tensor {
    const { buckets } = this.config;
    const centres = Array.from({ length: buckets }, (_, i) => bucketCentre(i, buckets));
    const [queries, n] = logits.shape;
    return logits
      .softmax()
      .matmul(constant(centres, [buckets, 1]))
      .reshape([queries, n])
      .transpose();
  }
}

/** tokens [1, 77] and moves asked about [1, q] -> their win probabilities [1, q], and the share of the likeliest bucket. */
function moeInference(network: Moe): Inference {
  const answer = network.forward(input("tokens", [1, FEN_TOKENS], "int32"), input("actions", [1, "q"], "int32"));
  return {
    moves: "actions1968",
    keyOf: (position) => positionKey(position, ["halfmoves", "fullmoves"]), // the tokens spell the whole FEN
    input:
      "tokens [1, 77]: the FEN as fen-tokens; actions [1, q]: the moves asked about, numbered by actions1968; " +
      (network.config.turned
        ? "when Black is to move, of the position with colours swapped and ranks mirrored"
        : "not turned"),
    outputs: { value: network.values(answer), likeliest: answer.logits.softmax().max(-1).transpose() },
    feeds: (positions) =>
      positions.map((position) => {
        const { tokens, numberOf } = encodeActionInput(position, network.config.turned);
        const moves = position.moves().map((move) => numberOf(actions1968.encode(position, move)));
        return { tokens: Int32Array.from(tokens), actions: Int32Array.from(moves) };
      }),
  };
}

const TYPICAL_MOVES = 35; // legal ones, in a middlegame

/** Of a position of which TYPICAL_MOVES are asked about. */
function multiplyAdds(config: MoeConfig): number {
  const { width, layers, hidden, experts: count, topK, gated, linked, buckets } = config;
  const rows = FEN_TOKENS + TYPICAL_MOVES;
  const hiddenLayer = (gated ? 3 : 2) * width * hidden * topK + width * count; // experts asked, and the router
  const attending = 2 * FEN_TOKENS * width; // of one row: its scores, and what it takes from each token
  const link = linked ? TYPICAL_MOVES * (2 * width * width + 2 * FEN_TOKENS * width) : 0;
  const layer = rows * (4 * width * width + attending + hiddenLayer) + link;
  // Nobody reads the states after the last layer: there they only give keys and values.
  const spared = FEN_TOKENS * (2 * width * width + attending + hiddenLayer);
  return layers * layer - spared + TYPICAL_MOVES * width * buckets;
}

/** The family of transformers with experts. */
export const MOE = defineFamily<MoeConfig, Moe>({
  sizes: MOE_SIZES,
  schema: SCHEMA,
  check: checkMoe,
  network: Moe,
  multiplyAdds,
  inference: moeInference,
});
