/** The networks of `tabiya bench train`, layer by layer those of bench/torch/nets.py. Fixed random batches. */
import { Random } from "#base";
import { tokenId } from "#encodings";
import { DECODER, type DecoderConfig, POSITION_TOKENS } from "#models";
import {
  attention,
  batchNorm,
  conv3x3,
  crossEntropy,
  embedding,
  experts,
  type Feeds,
  input,
  layerNorm,
  linear,
  meanSquaredError,
  normal,
  parameter,
  type Tensor,
  toPlanes,
  toSquares,
} from "#tensor";
import { decoderObjective } from "#training";

export interface BenchNet {
  model: object;
  loss: Tensor;
  batches: readonly Feeds[]; // of one step
  replicas: number; // workers that share them
}

const floats = (size: number, value: () => number) => Float32Array.from({ length: size }, value);
const integers = (size: number, below: number, random: Random) =>
  Int32Array.from({ length: size }, () => random.below(below));

/**
 * Nets whose examples do not depend on each other are trained by two replicas with one thread each, on parts of the
 * batch that suit the caches: the gradient is that of the whole batch. Batch norms need the batch in one piece.
 */
const REPLICAS = 2;

/** Each array cut along its first axis. */
const cut = (batch: Readonly<Record<string, Int32Array | Float32Array>>, parts: number): Feeds[] =>
  Array.from({ length: parts }, (_, i) =>
    Object.fromEntries(
      Object.entries(batch).map(([name, values]) => {
        const size = values.length / parts;
        return [name, values.slice(i * size, (i + 1) * size)];
      }),
    ),
  );

const TILE = 8; // the whole board at once: faster than 4, and it learned alike (docs/log/tensor.md)

class ConvNorm {
  readonly conv;
  readonly norm;
  constructor(inputs: number, outputs: number, size: 1 | 3, random: Random) {
    this.conv = size === 3 ? conv3x3(inputs, outputs, random, TILE) : linear(inputs, outputs, random, { bias: false });
    this.norm = batchNorm(outputs);
  }
  apply = (x: Tensor) => this.norm.apply(this.conv.apply(x));
}

class Residual {
  readonly stem;
  readonly blocks;
  readonly policy;
  readonly logits;
  readonly value;
  readonly score;

  constructor(
    readonly dense: boolean,
    random: Random,
  ) {
    this.stem = new ConvNorm(13, 64, 3, random);
    this.blocks = Array.from({ length: 4 }, () => ({
      first: new ConvNorm(64, 64, 3, random),
      second: new ConvNorm(64, 64, 3, random),
    }));
    this.policy = dense ? new ConvNorm(64, 32, 1, random) : new ConvNorm(64, 64, 3, random);
    this.logits = dense ? linear(32 * 64, 4288, random) : linear(64, 73, random);
    this.value = new ConvNorm(64, 32, 1, random);
    this.score = linear(32, 1, random);
  }

  forward(planes: Tensor): { logits: Tensor; value: Tensor } {
    const n = planes.dim(0);
    let x = this.stem.apply(toSquares(planes)).relu(); // [8, 8, n, 64]
    for (const { first, second } of this.blocks) x = second.apply(first.apply(x).relu()).add(x).relu();
    const policy = this.policy.apply(x).relu();
    const logits = this.dense
      ? this.logits.apply(policy.transpose([2, 0, 1, 3]).reshape([n, -1])) // square by square: moves lines, not numbers
      : toPlanes(this.logits.apply(policy)).reshape([n, -1]);
    const value = this.score
      .apply(this.value.apply(x).relu().mean([0, 1]))
      .tanh()
      .reshape([n]);
    return { logits, value };
  }
}

function residual(dense: boolean): BenchNet {
  const n = 256;
  const random = new Random(1);
  const model = new Residual(dense, random);
  const { logits, value } = model.forward(input("planes", [n, 13, 8, 8]));
  const loss = crossEntropy(logits, input("move", [n], "int32"))
    .mean()
    .add(meanSquaredError(value, input("outcome", [n])));
  const planes = floats(n * 13 * 64, () => (random.next() < 0.1 ? 1 : 0));
  return {
    model,
    loss,
    replicas: 1,
    batches: [{ planes, move: integers(n, 4288, random), outcome: floats(n, () => random.next() * 2 - 1) }],
  };
}

/** What PyTorch's side computes by one projection for q, k and v, as three: nothing has to be cut. */
class SelfAttention {
  readonly q;
  readonly k;
  readonly v;
  readonly out;
  constructor(
    width: number,
    readonly heads: number,
    random: Random,
  ) {
    this.q = linear(width, width, random);
    this.k = linear(width, width, random);
    this.v = linear(width, width, random);
    this.out = linear(width, width, random);
  }
  /** x [length * n, width], the first tokens of all sequences first */
  apply(x: Tensor, length: number): Tensor {
    const [q, k, v] = [this.q, this.k, this.v].map((part) => part.apply(x).reshape([length, -1, x.dim(1)]));
    const mixed = attention(q, k, v, this.heads, "all");
    return this.out.apply(mixed.reshape(x.shape));
  }
}

class FeedForward {
  readonly up;
  readonly down;
  constructor(width: number, random: Random) {
    this.up = linear(width, 4 * width, random);
    this.down = linear(4 * width, width, random);
  }
  apply = (x: Tensor) => this.down.apply(this.up.apply(x).gelu());
}

class Transformer {
  readonly embedding;
  readonly position;
  readonly layers;
  readonly norm;
  readonly head;

  constructor(
    readonly width: number,
    sparse: boolean,
    random: Random,
  ) {
    this.embedding = embedding(32, width, random);
    this.position = parameter([79, 1, width], normal(0.02, random));
    this.layers = Array.from({ length: 4 }, () => ({
      norm1: layerNorm(width),
      attention: new SelfAttention(width, 4, random),
      norm2: layerNorm(width),
      feed: sparse
        ? experts({ width, hidden: 4 * width, experts: 8, chosen: 2 }, random)
        : new FeedForward(width, random),
    }));
    this.norm = layerNorm(width);
    this.head = linear(width, 128, random);
  }

  /** tokens [n, 79] -> logits [n, 128] at the last one */
  forward(tokens: Tensor): Tensor {
    const embedded = this.embedding.apply(tokens.transpose()).mul(Math.sqrt(this.width)).add(this.position);
    let x = embedded.reshape([-1, this.width]); // [79 n, width]: plain matrices all the way, nothing to reshape
    for (const { norm1, attention, norm2, feed } of this.layers) {
      x = x.add(attention.apply(norm1.apply(x), 79));
      const y = feed.apply(norm2.apply(x));
      x = x.add("y" in y ? y.y : y);
    }
    const last = this.norm.apply(x).reshape(embedded.shape).slice(0, 78);
    return this.head.apply(last.reshape([-1, this.width]));
  }
}

function transformer(width: number, sparse: boolean): BenchNet {
  const n = 64;
  const parts = sparse ? 2 : 4; // smaller parts make the experts' matrices too small
  const random = new Random(1);
  const model = new Transformer(width, sparse, random);
  const logits = model.forward(input("tokens", [n / parts, 79], "int32"));
  const loss = crossEntropy(logits, input("bucket", [n / parts], "int32")).mean();
  const batch = { tokens: integers(n * 79, 32, random), bucket: integers(n, 128, random) };
  return { model, loss, batches: cut(batch, parts), replicas: REPLICAS };
}

const PEER: DecoderConfig = {
  width: 256,
  layers: 4,
  heads: 4,
  hidden: 1024,
  frequencies: 128,
  buckets: 100,
  valueHidden: 256,
  slots: false,
  squares: 0,
  movesBySquares: false,
  pieceHeads: 0,
};

const LISTED = 96; // moves that a decoder's batch has room for in the list of each position

/** The whole loss of a decoder: boards by the causal pass, moves and values by the prefix pass, of 8 windows of 4 positions. */
function decoder(): BenchNet {
  const [n, parts, context] = [8, 4, 4];
  const random = new Random(1);
  const model = DECODER.build(PEER, random);
  const weights = {
    boardWeight: 1,
    changeWeight: 1,
    moveWeight: 1,
    winLossWeight: 1,
    drawWeight: 1,
    thinkingWeight: 1,
    valueNoise: 0,
  };
  const settings = { context, resultShare: 0, boardShare: 1, skipBoards: 0, thinking: false, ...weights };
  const { loss } = decoderObjective(model, settings, n / parts);
  const size = n * context * POSITION_TOKENS;
  const tokens = integers(size, 1924, random);
  for (let at = 0; at < size; at += POSITION_TOKENS) {
    tokens[at + POSITION_TOKENS - 2] = tokenId("wl_value");
    tokens[at + POSITION_TOKENS - 1] = tokenId("d_value");
  }
  const batch = {
    tokens,
    values: floats(size, () => random.next()),
    boardTargets: integers(size, 41, random),
    changes: new Float32Array(size),
    legal: integers(n * context * LISTED, 1924, random),
    policy: new Float32Array(n * context * LISTED).fill(1 / LISTED),
    moveTargets: integers(size, 1924, random),
    winLossTargets: floats(size, () => random.next() * 2 - 1),
    drawTargets: floats(size, () => random.next()),
  };
  return { model, loss, batches: cut(batch, parts), replicas: REPLICAS };
}

/** Ours, and the names of PyTorch's peers, the first of which is the one to beat. */
export const BENCH_NETS: Record<string, { build: () => BenchNet; peers: readonly string[] }> = {
  "residual-dense": { build: () => residual(true), peers: ["residual-dense"] },
  "residual-conv": { build: () => residual(false), peers: ["residual-conv"] },
  transformer: { build: () => transformer(128, false), peers: ["transformer"] },
  moe: { build: () => transformer(64, true), peers: ["moe-all", "moe-sparse"] },
  decoder: { build: decoder, peers: ["decoder"] },
};
