import { BOARD_TOKENS } from "#encodings";
import { type Decoder, drawCentres, GAME_BLOCKS, inGames, NO_SLOT, POSITION_TOKENS, winLossCentres } from "#models";
import { constant, crossEntropy, type Feeds, input, MASKED, type Tensor, twoHot } from "#tensor";
import type { Objective } from "../graph-learner.js";

/** Settings of networks that learn to write games. */
export interface DecoderTaskConfig {
  context: number;
  resultShare: number;
  boardShare: number;
  skipBoards: number;
  boardWeight: number;
  changeWeight: number;
  moveWeight: number;
  winLossWeight: number;
  drawWeight: number;
  thinking: boolean;
  thinkingWeight: number;
  valueNoise: number;
}

interface DecoderObjective extends Objective {
  judged: Record<string, Tensor>;
}

const STM = BOARD_TOKENS - 1; // token numbers within a position: the side to move speaks the move,
const MOVE = BOARD_TOKENS; // the move what it is worth,
const WL = BOARD_TOKENS + 1; // and that how often it is a draw

/**
 * Boards by the causal pass, moves and values by the prefix pass, of n windows of games. What the judge needs is, by
 * position [context * n] (the first positions of all windows first): moveLoss, better, illegal, winLoss, draw, and by
 * token [context * 71 * n] whether the board head was right.
 */
export function decoderObjective(network: Decoder, config: DecoderTaskConfig, n: number | "n" = "n"): DecoderObjective {
  const { context, boardShare, boardWeight, moveWeight, winLossWeight, drawWeight } = config;
  const { buckets } = network.config;
  const length = context * POSITION_TOKENS;
  const positions = typeof n === "number" ? context * n : context === 1 ? n : `${context}n`;
  const tokens = input("tokens", [n, length], "int32");
  const slots = Array.from({ length }, (_, i) => Math.min(i % POSITION_TOKENS, NO_SLOT));
  const x = network.embed({
    tokens,
    values: input("values", [n, length]),
    slots: constant(slots, [length, 1], "int32"),
  });

  const read = typeof n === "number" ? Math.max(1, Math.round(n * boardShare)) : n;
  const causal = network.read(x.slice(1, 0, read), "causal");
  const next = input("boardTargets", [n, length], "int32").slice(0, 0, read).transpose().reshape([-1]);
  const boardLogits = network.board.apply(causal); // [length * read, 41]
  const isNext = next.greater(-1).cast("float32");
  const board = weighted(crossEntropy(boardLogits, next.maximum(0)), boardWeights(isNext, config, n, read));
  const isRight = boardLogits.argmax().cast("int32").equal(next).cast("float32");

  const prefix = network
    .readPrefix(x, GAME_BLOCKS, inGames(POSITION_TOKENS))
    .reshape([context, POSITION_TOKENS, n, -1]);
  /** What stands at a token of each position: [positions, ...]. */
  const at = (token: number, rows: Tensor) => {
    const [, , , ...rest] = rows.shape;
    return rows.slice(1, token, token + 1).reshape([positions, ...rest]);
  };
  const targets = (name: string, token: number, dtype: "int32" | "float32") =>
    at(token, input(name, [n, length], dtype).transpose().reshape([context, POSITION_TOKENS, n]));

  const move = targets("moveTargets", STM, "int32");
  const isPosition = move.greater(-1).cast("float32"); // [positions]
  const logits = network.movesAt(at(STM, prefix), prefix.slice(1, 1, 65), "policy");
  const legal = input("legal", [positions, "k"], "int32");
  const isLegal = legal.greater(-1);
  const legalLogits = isLegal.where(logits.take(legal.maximum(0)), MASKED); // [positions, k]
  const wanted = logits.take(move.maximum(0).reshape([positions, 1]));
  const moveLoss = policyLoss(logits, move.maximum(0), legalLogits, input("policy", [positions, "k"]));

  const winLossTarget = targets("winLossTargets", MOVE, "float32").clip(-1, 1);
  const winLossLogits = network.winLoss.apply(at(MOVE, prefix));
  const winLossLoss = crossEntropy(winLossLogits, twoHot(winLossTarget, winLossCentres(buckets)));
  const drawTarget = targets("drawTargets", WL, "float32").clip(0, 1);
  const drawLogits = network.draw.apply(at(WL, prefix));
  const drawLoss = crossEntropy(drawLogits, twoHot(drawTarget, drawCentres(buckets)));

  const better = legalLogits.greater(wanted).cast("float32").sum(-1); // legal moves the network likes more
  const lawful = isLegal.where(logits.softmax().take(legal.maximum(0)), 0).sum(-1);
  const winLossError = network.expectedWinLoss(winLossLogits).sub(winLossTarget).abs();

  const mean = (values: Tensor) => weighted(values, isPosition);
  const [moves, winLosses, draws] = [moveLoss, winLossLoss, drawLoss].map(mean);
  return {
    loss: board
      .mul(boardWeight)
      .add(moves.mul(moveWeight))
      .add(winLosses.mul(winLossWeight))
      .add(draws.mul(drawWeight)),
    metrics: {
      boardLoss: board,
      boardTop1: weighted(isRight, isNext),
      policyLoss: moves,
      policyTop1: mean(better.less(0.5).cast("float32")),
      winLossLoss: winLosses,
      winLossMae: mean(winLossError),
      drawLoss: draws,
      illegal: mean(lawful.neg().add(1)),
    },
    judged: {
      boardLoss: crossEntropy(boardLogits, next.maximum(0)),
      isRight,
      moveLoss,
      winLossLoss,
      drawLoss,
      better,
      lawful,
      winLoss: network.expectedWinLoss(winLossLogits),
      draw: network.expectedDraw(drawLogits),
    },
  };
}

/**
 * The cross-entropy [m] with shares of listed moves, whose logits are `listed`, both [m, k]: what these weigh, instead of the
 * played move's.
 */
export function policyLoss(logits: Tensor, played: Tensor, listed: Tensor, shares: Tensor): Tensor {
  const [m] = played.shape;
  const wanted = logits.take(played.reshape([m, 1])).reshape([m]);
  return crossEntropy(logits, played).add(wanted).sub(listed.mul(shares).sum(-1));
}

/** What each of the next tokens [length * read] weighs in the loss of boards: those that the last move changed weigh more. */
export function boardWeights(
  isNext: Tensor,
  { context, changeWeight }: DecoderTaskConfig,
  n: number | "n",
  read: number | "n",
): Tensor {
  const changes = input("changes", [n, context * POSITION_TOKENS])
    .slice(0, 0, read)
    .transpose()
    .reshape([-1]);
  return isNext.add(changes.mul(changeWeight - 1));
}

/** Some of the arrays of a batch. */
export const pickFeeds = (batch: object, names: readonly string[]): Feeds =>
  Object.fromEntries(Object.entries(batch).filter(([name]) => names.includes(name)));

/** The mean of values [m] by weights [m]; 0 if there is nothing to weigh. */
export const weighted = (values: Tensor, weights: Tensor): Tensor =>
  values.mul(weights).sum().div(weights.sum().maximum(1));
