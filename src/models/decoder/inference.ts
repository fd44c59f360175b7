import { BOARD_TOKENS, EncoderBatch, MOVE_TABLES, tokenId } from "#encodings";
import { attention, concat, constant, input, MASKED, type Tensor } from "#tensor";
import type { Inference } from "../family.js";
import { positionKey } from "../position-key.js";
import { type Decoder, NO_SLOT } from "./network.js";
import { alone, onBoard } from "./sights.js";

const AT_ONCE = 32; // positions
const { moves1924 } = MOVE_TABLES;
const WL_TOKEN = tokenId("wl_value");

/**
 * One look at a position, without thought: tokens [n, 68] and what bars illegal moves [n, 1924] -> policy [n, 1924]
 * (logits), value [n], and wdl [n, 3]. The value is what the network says of the legal move it likes best, which it reads
 * on behind the board, and so is the share of draws.
 */
export function decoderInference(network: Decoder): Inference {
  const slots = (list: readonly number[]) => constant(list, [list.length, 1], "int32");
  const reader = new PrefixReader(network);
  const tokens = input("tokens", ["n", BOARD_TOKENS], "int32");
  const bars = input("bars", ["n", moves1924.size]);
  const nothing = tokens.slice(1, 0, 1).cast("float32").mul(0); // [n, 1]

  const board = reader.read(
    network.embed({
      tokens,
      values: tokens.cast("float32").mul(0),
      slots: slots(Array.from({ length: BOARD_TOKENS }, (_, slot) => slot)),
    }),
  );
  const rows = board.reshape([1, BOARD_TOKENS, "n", network.config.width]);
  const policy = network.movesAt(
    rows.slice(1, BOARD_TOKENS - 1).reshape(["n", network.config.width]),
    rows.slice(1, 1, 65),
    "policy",
  );
  const best = policy.add(bars).argmax().cast("int32").reshape(["n", 1]);
  const moved = reader.read(network.embed({ tokens: best, values: nothing, slots: slots([NO_SLOT]) }));
  const value = network.expectedWinLoss(network.winLoss.apply(moved)); // [n]
  const valued = network.embed({
    tokens: nothing.add(WL_TOKEN).cast("int32"),
    values: value.reshape(["n", 1]),
    slots: slots([NO_SLOT]),
  });
  const draw = network.expectedDraw(network.draw.apply(reader.read(valued))); // [n]

  return {
    moves: "moves1924",
    keyOf: (position) => positionKey(position, []), // the en-passant square decides which moves are barred
    outputs: { policy, value, wdl: winDrawLoss(value, draw) },
    feeds: (positions) =>
      Array.from({ length: Math.ceil(positions.length / AT_ONCE) }, (_, i) => {
        const some = positions.slice(i * AT_ONCE, (i + 1) * AT_ONCE);
        room ??= new EncoderBatch(AT_ONCE);
        const bars = new Float32Array(some.length * moves1924.size).fill(MASKED);
        for (const [k, position] of some.entries()) {
          room.put(k, position);
          for (const move of position.moves()) bars[k * moves1924.size + moves1924.encode(position, move)] = 0;
        }
        return { tokens: Int32Array.from(room.board68(some.length)), bars };
      }),
  };
}

let room: EncoderBatch | undefined; // one for all: the core's memory is never given back

/** Reads sequences piece by piece in the prefix pass, boards and other tokens; each piece sees itself and all before it. */
class PrefixReader {
  private readonly keys: Tensor[] = [];
  private readonly values: Tensor[] = [];
  private length = 0;

  constructor(private readonly network: Decoder) {}

  /** x [t, n, width], t known -> [t * n, width] */
  read(x: Tensor): Tensor {
    const { network, keys, values } = this;
    const t = x.dim(0) as number;
    const { cosines, sines } = network.rotations(this.length + t);
    const rotations = { cosines: cosines.slice(0, this.length), sines: sines.slice(0, this.length) };
    this.length += t;
    return network.run(x, rotations, (q, k, v, layer) =>
      network.lookAround([q, k, v], t === BOARD_TOKENS ? onBoard : alone, ([q, k, v], heads) => {
        keys[layer] = keys[layer] ? concat([keys[layer], k], 0) : k;
        values[layer] = values[layer] ? concat([values[layer], v], 0) : v;
        return attention(q, keys[layer], values[layer], heads);
      }),
    );
  }
}

/** Shares [n, 3] of what win minus loss and the share of draws, both [n], say. */
function winDrawLoss(value: Tensor, draw: Tensor): Tensor {
  const decided = value.abs();
  const drawn = draw.minimum(decided.neg().add(1)).maximum(0);
  const rest = drawn.neg().add(1); // win and loss together
  const column = (x: Tensor) => x.reshape(["n", 1]);
  return concat([column(rest.add(value).mul(0.5)), column(drawn), column(rest.sub(value).mul(0.5))], -1);
}
