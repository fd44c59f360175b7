import type { Position } from "#chess";
import { EncoderBatch, FEN_TOKENS, MOVE_TABLES } from "#encodings";
import { type Feeds, input, type Tensor } from "#tensor";
import { encodeActionInput } from "./action-input.js";
import type { Moe } from "./moe.js";
import { BOARDS, type Residual } from "./residual.js";

/** A network as it is used: what it says, and what it is to be fed for some positions, in as many runs as it needs. */
export interface Inference {
  outputs: Record<string, Tensor>;
  feeds(positions: readonly Position[]): Feeds[];
}

const AT_ONCE = 64; // positions

/** planes [n, planes, 8, 8] -> policy [n, moves] (logits), value [n], and wdl [n, 3] (probabilities) if the net has them. */
export function residualInference(network: Residual): Inference {
  const { board } = network.config;
  const { policy, value, wdl } = network.forward(input("planes", ["n", BOARDS[board].planes, 8, 8]));
  return {
    outputs: { policy, value, ...(wdl && { wdl: wdl.softmax() }) },
    feeds: (positions) =>
      Array.from({ length: Math.ceil(positions.length / AT_ONCE) }, (_, i) => {
        const some = positions.slice(i * AT_ONCE, (i + 1) * AT_ONCE);
        room ??= new EncoderBatch(AT_ONCE);
        for (const [k, position] of some.entries()) room.put(k, position, position.repetitions());
        return { planes: room.planes(board, some.length).slice() };
      }),
  };
}

let room: EncoderBatch | undefined; // one for all: the core's memory is never given back

/** tokens [1, 77] and moves asked about [1, q] -> their win probabilities [1, q], and the share of the likeliest bucket. */
export function moeInference(network: Moe): Inference {
  const answer = network.forward(input("tokens", [1, FEN_TOKENS], "int32"), input("actions", [1, "q"], "int32"));
  return {
    outputs: { value: network.values(answer), likeliest: answer.logits.softmax().max(-1).transpose() },
    feeds: (positions) =>
      positions.map((position) => {
        const { tokens, numberOf } = encodeActionInput(position, network.config.turned);
        const moves = position.moves().map((move) => numberOf(MOVE_TABLES.actions1968.encode(position, move)));
        return { tokens: Int32Array.from(tokens), actions: Int32Array.from(moves) };
      }),
  };
}
