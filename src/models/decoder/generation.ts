import { BOARD_TOKENS, tokenId } from "#encodings";
import {
  attention,
  CachedSession,
  type CacheSpec,
  concat,
  constant,
  exportOnnx,
  input,
  rotaryTables,
  type Tensor,
} from "#tensor";
import { type Decoder, NO_SLOT } from "./network.js";
import { alone, onBoard, type Sight } from "./sights.js";

/** The most tokens of a sequence that is read with caches. */
export const LONGEST = 2048;

const PASSES = ["causal", "prefix"] as const;
const WL_TOKEN = tokenId("wl_value");
const D_TOKEN = tokenId("d_value");

/** What the heads say at one token. */
export interface Spoken {
  board: Float32Array; // logits of the board head's 41, causal
  policy: Float32Array; // logits of moves1924; what squares say of moves is in it only at a board
  thinking: Float32Array; // the same of the thinking policy
  winLoss: number; // win minus loss, -1 to 1, where the token is a move
  draw: number; // the share of draws, where the token is a wl_value
}

/** What the heads say at the last token of a board, and of the board itself. */
export interface SpokenBoard extends Spoken {
  squares: Float32Array; // what the squares alone say of moves1924, for tokens that speak of this board's moves later
  predicted: Int32Array; // [68], what the board head took the token after each of the board's to be
}

/**
 * Reads sequences token by token, both passes at once, without reading anything twice. A board is one run: in the prefix
 * pass its tokens see each other.
 */
export class DecoderReader {
  private tokens = 0;

  private constructor(
    private readonly session: CachedSession<"token" | "board">,
    private readonly capacity: number,
  ) {}

  static async open(network: Decoder, { threads, capacity = LONGEST }: { threads?: number; capacity?: number } = {}) {
    const models = {
      token: exportOnnx(readerGraph(network, 1)),
      board: exportOnnx(readerGraph(network, BOARD_TOKENS)),
    };
    const session = await CachedSession.open(models, cachesOf(network), capacity, { threads });
    return new DecoderReader(session, capacity);
  }

  /** Tokens read so far. */
  get length(): number {
    return this.tokens;
  }

  /** Tokens that can still be read. */
  get room(): number {
    return this.capacity - this.tokens;
  }

  async truncate(length: number): Promise<void> {
    await this.session.truncate(length);
    this.tokens = length;
  }

  /** Reads a token that is none of a board. */
  token(id: number, value = 0): Promise<Spoken> {
    return this.run("token", Int32Array.of(id), Float32Array.of(value));
  }

  winLoss = (value: number): Promise<Spoken> => this.token(WL_TOKEN, value);
  draw = (value: number): Promise<Spoken> => this.token(D_TOKEN, value);

  /** Reads the 68 tokens of a board. */
  async board(tokens: ArrayLike<number>): Promise<SpokenBoard> {
    const spoken = await this.run("board", Int32Array.from(tokens), new Float32Array(BOARD_TOKENS));
    return spoken as SpokenBoard;
  }

  close(): Promise<void> {
    return this.session.close();
  }

  private async run(model: "token" | "board", tokens: Int32Array, values: Float32Array): Promise<Spoken> {
    const first = this.tokens;
    const count = tokens.length;
    const indices = Int32Array.from({ length: count }, (_, i) => first + i);
    const seen = model === "board" && { seen: { data: triangle(first), shape: [count, first + count] } };
    const answer = await this.session.run(model, { tokens, values, indices, ...seen });
    this.tokens += count;
    const floats = (name: string) => answer[name].data as Float32Array;
    return {
      board: floats("board"),
      policy: floats("policy"),
      thinking: floats("thinking"),
      winLoss: floats("winLoss")[0],
      draw: floats("draw")[0],
      ...(model === "board" && {
        squares: floats("squares"),
        predicted: Int32Array.from(answer.predicted.data as Int32Array, Number),
      }),
    };
  }
}

/** What the tokens of a board may see in the causal pass, behind `before` others. */
function triangle(before: number): Uint8Array {
  const columns = before + BOARD_TOKENS;
  return Uint8Array.from({ length: BOARD_TOKENS * columns }, (_, i) =>
    i % columns <= before + Math.floor(i / columns) ? 1 : 0,
  );
}

const cacheName = (pass: string, kind: string, layer: number): string => `${pass}.${kind}.${layer}`;

function cachesOf({ config: { layers, width, heads, pieceHeads } }: Decoder): CacheSpec[] {
  const widths = { causal: width, prefix: (width / heads) * (heads - pieceHeads) }; // the others look at one board only
  return PASSES.flatMap((pass) =>
    Array.from({ length: layers }, (_, layer) => layer).flatMap((layer) =>
      ["keys", "values"].map((kind) => {
        const name = cacheName(pass, kind, layer);
        return { input: `past.${name}`, output: `new.${name}`, shape: [1, widths[pass]] };
      }),
    ),
  );
}

/** Both passes over t more tokens, which the heads speak behind the last of. */
function readerGraph(network: Decoder, t: number): Record<string, Tensor> {
  const { width, heads } = network.config;
  const isBoard = t === BOARD_TOKENS;
  const slots = Array.from({ length: t }, (_, i) => (isBoard ? i : NO_SLOT));
  const x = network.embed({
    tokens: input("tokens", [1, t], "int32"),
    values: input("values", [1, t]),
    slots: constant(slots, [t, 1], "int32"),
  });
  const tables = rotaryTables(LONGEST, width / heads);
  const indices = input("indices", [t], "int32");
  const turned = { cosines: tables.cosines.gather(indices), sines: tables.sines.gather(indices) };
  const outputs: Record<string, Tensor> = {};
  const cached =
    (pass: (typeof PASSES)[number], layer: number, mask: Tensor | "all"): Sight =>
    ([q, k, v], heads) => {
      const [keys, values] = (["keys", "values"] as const).map((kind, i) => {
        const name = cacheName(pass, kind, layer);
        const added = [k, v][i];
        outputs[`new.${name}`] = added;
        return concat([input(`past.${name}`, ["p", 1, added.dim(-1)]), added], 0);
      });
      return attention(q, keys, values, heads, mask);
    };
  const mask = isBoard ? input("seen", [t, `p+${t}`], "bool") : "all";
  const causal = network.run(x, turned, (q, k, v, layer) => cached("causal", layer, mask)([q, k, v], heads));
  const prefix = network.run(x, turned, (q, k, v, layer) =>
    network.lookAround([q, k, v], isBoard ? onBoard : alone, cached("prefix", layer, "all")),
  ); // [t, width]
  const last = (rows: Tensor) => rows.slice(0, t - 1);
  const board = network.board.apply(causal);
  const squares = isBoard ? prefix.reshape([1, t, 1, width]).slice(1, 1, 65) : undefined;
  const moves = (head: "policy" | "thinking") => network.movesAt(last(prefix), squares, head);
  Object.assign(outputs, {
    board: last(board),
    policy: moves("policy"),
    thinking: moves("thinking"),
    winLoss: network.expectedWinLoss(network.winLoss.apply(last(prefix))),
    draw: network.expectedDraw(network.draw.apply(last(prefix))),
  });
  if (!squares) return outputs;
  const ofSquares = network.squares?.apply(squares) ?? outputs.policy.mul(0);
  return { ...outputs, squares: ofSquares, predicted: board.argmax().cast("int32") };
}
