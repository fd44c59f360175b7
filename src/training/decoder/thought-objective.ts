import { type Decoder, drawCentres, inBlocks, POSITION_TOKENS, prefixMask, winLossCentres } from "#models";
import { constant, crossEntropy, input, type Tensor, twoHot } from "#tensor";
import type { Objective } from "../graph-learner.js";
import { boardWeights, type DecoderTaskConfig, policyLoss, weighted } from "./objective.js";

/** What its graph is fed. */
export const thoughtInputs = ({ slots, squares }: Decoder): string[] => [
  ...["tokens", "values", "blocks", "boardTargets", "changes", "speakers", "moves", "thinks", "winLoss", "draws"],
  ...["choices", "shares"],
  ...(slots ? ["slots"] : []),
  ...(squares ? ["boards"] : []),
];

/**
 * The same for rows of games and thoughts, whose boards stand anywhere: attention follows the block ids, and the moves of
 * each row are given as lists. An entry says which token speaks, on which board the move is made, and what it is worth.
 */
export function thoughtObjective(network: Decoder, config: DecoderTaskConfig, n: number): Objective {
  const { context, boardShare, boardWeight, moveWeight, thinkingWeight, winLossWeight, drawWeight } = config;
  const { buckets, width } = network.config;
  const length = context * POSITION_TOKENS;
  const m = n * context; // moves
  const slots = input("slots", [n, length], "int32");
  const x = network.embed({
    tokens: input("tokens", [n, length], "int32"),
    values: input("values", [n, length]),
    slots: slots.transpose(),
  });

  const read = Math.max(1, Math.round(n * boardShare));
  const boardLogits = network.board.apply(network.read(x.slice(1, 0, read), "causal"));
  const next = input("boardTargets", [n, length], "int32").slice(0, 0, read).transpose().reshape([-1]);
  const isNext = next.greater(-1).cast("float32");
  const board = weighted(crossEntropy(boardLogits, next.maximum(0)), boardWeights(isNext, config, n, read));
  const isRight = boardLogits.argmax().cast("int32").equal(next).cast("float32");

  const blocks = input("blocks", [n, length], "int32");
  const prefix = network.readPrefix(x, prefixMask(blocks), inBlocks(blocks, slots)); // [length * n, width]
  const speakers = input("speakers", [m], "int32"); // rows of `prefix`: token * n + sequence
  const behind = (tokens: number) => prefix.gather(speakers.add(tokens * n));
  const offsets = Array.from({ length: 64 }, (_, square) => (1 + square) * n);
  const onBoard = input("boards", [1, m], "int32").add(constant(offsets, [64, 1], "int32")); // [64, m]
  const squares = network.squares && prefix.gather(onBoard).reshape([1, 64, m, width]);

  const move = input("moves", [m], "int32");
  const isMove = move.greater(-1).cast("float32");
  const thinks = input("thinks", [m]).mul(isMove);
  const plays = isMove.sub(thinks);
  const said = (head: "policy" | "thinking", weights: Tensor, lossOf: (logits: Tensor) => Tensor) => {
    const logits = network.movesAt(behind(0), squares, head);
    return {
      loss: weighted(lossOf(logits), weights),
      top1: weighted(logits.argmax().cast("int32").equal(move).cast("float32"), weights),
    };
  };
  const choices = input("choices", [m, "k"], "int32").maximum(0); // where a list has no more, its share is 0
  const shares = input("shares", [m, "k"]);
  const policy = said("policy", plays, (logits) => policyLoss(logits, move.maximum(0), logits.take(choices), shares));
  const thinking = said("thinking", thinks, (logits) => crossEntropy(logits, move.maximum(0)));
  const winLoss = input("winLoss", [m]);
  const winLossLogits = network.winLoss.apply(behind(1));
  const winLossLoss = weighted(crossEntropy(winLossLogits, twoHot(winLoss, winLossCentres(buckets))), isMove);
  const draw = input("draws", [m]);
  const drawLoss = weighted(crossEntropy(network.draw.apply(behind(2)), twoHot(draw, drawCentres(buckets))), isMove);
  return {
    loss: board
      .mul(boardWeight)
      .add(policy.loss.mul(moveWeight))
      .add(thinking.loss.mul(thinkingWeight))
      .add(winLossLoss.mul(winLossWeight))
      .add(drawLoss.mul(drawWeight)),
    metrics: {
      boardLoss: board,
      boardTop1: weighted(isRight, isNext),
      policyLoss: policy.loss,
      policyTop1: policy.top1,
      thinkingLoss: thinking.loss,
      thinkingTop1: thinking.top1,
      winLossLoss,
      winLossMae: weighted(network.expectedWinLoss(winLossLogits).sub(winLoss).abs(), isMove),
      drawLoss,
    },
  };
}
