// What happens inside a network of moves, for people to look at: one run of a graph with more outputs than playing needs.
import type { Move, Position } from "#chess";
import { FEN_TOKENS } from "#encodings";
import { exportOnnx, input, Session, type Tensor } from "#tensor";
import { readNetwork } from "./load.js";
import { MOE } from "./moe.js";

/** A layer, seen from the squares a8 to h1. */
export interface LayerInsight {
  experts: number[][]; // of each square, the share of each expert; none if the layer has none
  attention: number[][][]; // [head][move][square]: where each move looks
}

/** What goes on inside a transformer with experts as it looks at a position. */
export interface MoeInsight {
  moves: { move: Move; value: number; buckets: number[] }[]; // the best first, with the share of each bucket
  layers: LayerInsight[];
}

const FIRST_SQUARE = 1; // among the tokens of a position
const SQUARES = 64;

/** Opens a moe network for looking; the session lives as long as the worker that asked for it. */
export async function inspectMoe(
  bytes: Uint8Array,
  path: string,
): Promise<(position: Position) => Promise<MoeInsight>> {
  const network = MOE.own(readNetwork(bytes, path).network);
  const answer = network.forward(input("tokens", [1, FEN_TOKENS], "int32"), input("actions", [1, "q"], "int32"));
  const outputs: Record<string, Tensor> = { value: network.values(answer), buckets: answer.logits.softmax() };
  // The last layer routes the queries alone: nobody reads the states after it.
  answer.routing.slice(0, -1).forEach(({ logits }, i) => {
    outputs[`experts${i}`] = logits.softmax();
  });
  network.layers.forEach((layer, i) => {
    outputs[`gaze${i}`] = layer.gaze(answer.inputs[i]);
  });
  const session = await Session.open(exportOnnx(outputs), { threads: 1 });
  const inference = MOE.inference!(network);
  return async (position) => {
    const [feeds] = inference.feeds([position]);
    const found = await session.run(feeds);
    // A network that is turned sees Black's board upside down.
    const turned = network.config.turned && position.turn === "black" ? 56 : 0;
    const legal = position.moves();
    const order = legal.map((_, i) => i).sort((a, b) => Number(found.value.data[b]) - Number(found.value.data[a]));
    const { buckets, heads } = network.config;
    const row = (name: string, at: number, width: number) =>
      Array.from(found[name].data.slice(at * width, (at + 1) * width), Number);
    const squares = <T>(read: (token: number) => T) =>
      Array.from({ length: SQUARES }, (_, square) => read(FIRST_SQUARE + (square ^ turned)));
    return {
      moves: order.map((i) => ({
        move: legal[i],
        value: 2 * Number(found.value.data[i]) - 1,
        buckets: row("buckets", i, buckets),
      })),
      layers: network.layers.map((_, layer) => {
        const experts = found[`experts${layer}`];
        const width = experts?.shape[experts.shape.length - 1] ?? 0;
        return {
          experts: experts ? squares((token) => row(`experts${layer}`, token, width)) : [],
          attention: Array.from({ length: heads }, (_, head) =>
            order.map((i) => {
              const gaze = row(`gaze${layer}`, head * legal.length + i, FEN_TOKENS);
              return squares((token) => gaze[token]);
            }),
          ),
        };
      }),
    };
  };
}
