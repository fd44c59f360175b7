import { BOARDS, type Residual } from "#models";
import { crossEntropy, input, MASKED, type Tensor, twoHot } from "#tensor";
import type { Objective } from "../graph-learner.js";

/** Settings of networks that learn a move and a value. */
export interface PolicyValueConfig {
  policyWeight: number;
  valueWeight: number;
  scoreScale: number;
  resultShare: number;
  augment: boolean;
}

interface PolicyValueObjective extends Objective {
  judged: Record<string, Tensor>; // of each position [n]: what the judge adds up
}

/** The move to learn, among the legal ones, and the value. */
export function policyValueObjective(
  network: Residual,
  { policyWeight, valueWeight }: Pick<PolicyValueConfig, "policyWeight" | "valueWeight">,
  n: number | "n" = "n",
): PolicyValueObjective {
  const legal = input("legal", [n, "k"], "int32");
  const wanted = input("policy", [n, "k"]);
  const target = input("value", [n]);
  const { policyOf, value, wdl } = network.forward(input("planes", [n, BOARDS[network.config.board].planes, 8, 8]));

  const isMove = legal.greater(-1);
  const logits = policyOf(legal); // [n, k]
  const policyLoss = crossEntropy(logits, wanted, isMove); // [n]
  // A value between draw and win is that much of a win; win, draw, loss is the order of the logits.
  const valueLoss = wdl ? crossEntropy(wdl, twoHot(target.neg(), [-1, 0, 1])) : value.sub(target).square();
  const loss = policyLoss.mean().mul(policyWeight).add(valueLoss.mean().mul(valueWeight));

  const logit = logits.take(wanted.argmax().reshape([n, 1])); // of the move to learn, or of the best of several
  const better = isMove.where(logits, MASKED).greater(logit).cast("float32").sum(-1); // moves the network likes more
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
