import { z } from "zod";
import { BOARDS, type Residual, type ResidualConfig } from "#models";
import { crossEntropy, input, MASKED, type Tensor, twoHot } from "#tensor";
import type { BatchSource, PolicyValueBatch } from "./batch-source.js";
import { Batches } from "./batches.js";
import { describePolicyValue, judgePolicyValue, type PolicyValueJudgement } from "./policy-value-judge.js";
import { type Objective, percent, type Task } from "./task.js";

/** Settings of networks that learn a move and a value. */
export interface PolicyValueConfig {
  policyWeight: number; // of the policy in the loss
  valueWeight: number; // of the value in the loss
  scoreScale: number; // centipawns k in the value tanh(score / k)
  resultShare: number; // how much of the value target is the game's result instead of the score
  augment: boolean; // half of the positions are shown mirrored (no castling right left) or from the other side (planes13)
}

const SHUFFLED = 262_144; // records in memory at a time, 10 MB: of some 3,000 games

const factor = z.number().min(0);

export const POLICY_VALUE: Task<Residual, PolicyValueConfig, BatchSource<PolicyValueBatch>, PolicyValueJudgement> = {
  fields: {
    policyWeight: factor,
    valueWeight: factor,
    scoreScale: z.number().positive(),
    resultShare: factor.max(1),
    augment: z.boolean(),
  } satisfies { [K in keyof PolicyValueConfig]: z.ZodType<PolicyValueConfig[K]> },
  defaults: { policyWeight: 1, valueWeight: 1, scoreScale: 400, resultShare: 0, augment: false },

  open(paths, { train, task, model }, limit) {
    const { scoreScale, resultShare, augment } = task as unknown as PolicyValueConfig;
    const { board } = model as unknown as ResidualConfig;
    const { moves } = BOARDS[board];
    const encoding = { kind: "policy-value", planes: board, moves, scoreScale, resultShare, augment } as const;
    return Batches.open({ sources: paths, encoding, seed: train.seed, limit, shuffleRecords: SHUFFLED });
  },
  objective: policyValueObjective,
  judge: judgePolicyValue,

  summarise: (trained, judged) => ({
    train_policy_accuracy: trained.policyTop1,
    val_policy_accuracy: judged?.policyTop1 ?? null,
    train_value_mae: trained.valueMae,
    val_value_mae: judged?.valueMae ?? null,
  }),
  describeEpoch({ epoch, train_loss, train_policy_accuracy, train_value_mae }, judged) {
    const trained = `epoch ${epoch}: loss ${train_loss.toFixed(3)}, move found ${percent(train_policy_accuracy ?? 0)}`;
    if (!judged) return `${trained}, value off by ${train_value_mae?.toFixed(3)}`;
    return `${trained}; unseen games: loss ${judged.loss.toFixed(3)}, move found ${percent(judged.policyTop1)} (in five ${percent(judged.policyTop5)}), value off by ${judged.valueMae.toFixed(3)}`;
  },
  describe: describePolicyValue,
};

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
