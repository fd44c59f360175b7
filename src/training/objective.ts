import { MOVE_TABLES } from "#encodings";
import { BOARDS, type Network } from "#models";
import { crossEntropy, input, MASKED, type Tensor, twoHot } from "#tensor";
import type { TrainConfig } from "./config.js";

/** What a network is trained on and judged by. */
export interface Objective {
  loss: Tensor; // one number
  metrics: Record<string, Tensor>; // further numbers, averaged over a batch
  judged: Record<string, Tensor>; // of each position [n]: what `judge` adds up
}

/** The move to learn, among the legal ones, and the value. */
export function policyValueObjective(
  network: Network,
  { policyWeight, valueWeight }: Pick<TrainConfig, "policyWeight" | "valueWeight">,
): Objective {
  const { planes: count, moves } = BOARDS[network.config.board];
  const legal = input("legal", ["n", MOVE_TABLES[moves].size], "bool");
  const move = input("move", ["n"], "int32");
  const target = input("value", ["n"]);
  const { policy, value, wdl } = network.forward(input("planes", ["n", count, 8, 8]));

  const policyLoss = crossEntropy(policy, move, legal); // [n]
  // A value between draw and win is that much of a win; win, draw, loss is the order of the logits.
  const valueLoss = wdl ? crossEntropy(wdl, twoHot(target.neg(), [-1, 0, 1])) : value.sub(target).square();
  const loss = policyLoss.mean().mul(policyWeight).add(valueLoss.mean().mul(valueWeight));

  const legalLogits = legal.where(policy, MASKED);
  const wanted = policy.take(move.reshape(["n", 1])); // [n, 1]
  const better = legalLogits.greater(wanted).cast("float32").sum(-1); // legal moves the network likes more
  const valueError = value.sub(target).abs();
  return {
    loss,
    metrics: {
      policyLoss: policyLoss.mean(),
      valueLoss: valueLoss.mean(),
      policyTop1: better.less(0.5).cast("float32").mean(),
      valueMae: valueError.mean(),
    },
    judged: { policyLoss, valueLoss, better, predicted: value },
  };
}
