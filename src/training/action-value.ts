import { z } from "zod";
import { bucketCentre, FEN_TOKENS } from "#encodings";
import type { Moe, MoeConfig } from "#models";
import { balanceLoss, crossEntropy, histogram, input, type Tensor, twoHot } from "#tensor";
import { openActions } from "./action-data.js";
import { ActionSource } from "./action-source.js";
import { type ActionValueJudgement, describeActionValue, judgeActionValue } from "./action-value-judge.js";
import { type Objective, percent, type Task } from "./task.js";

const TARGETS = ["one-hot", "two-hot", "hl-gauss"] as const;

/** Settings of networks that learn the win probability of moves. */
export interface ActionValueConfig {
  queries: number; // moves of a position in a batch; where there are more, others are taken each time
  target: (typeof TARGETS)[number]; // the true bucket alone, the two nearest, or a bell around the true value
  sigma: number; // deviation of that bell, in buckets
  balanceWeight: number; // in the loss, of using all experts alike
}

export const ACTION_VALUE: Task<Moe, ActionValueConfig, ActionSource, ActionValueJudgement> = {
  fields: {
    queries: z.int().min(1).max(256),
    target: z.enum(TARGETS),
    sigma: z.number().positive(),
    balanceWeight: z.number().min(0),
  } satisfies { [K in keyof ActionValueConfig]: z.ZodType<ActionValueConfig[K]> },
  defaults: { queries: 32, target: "hl-gauss", sigma: 0.75, balanceWeight: 0.01 },

  async open(paths, { train, task, model }, limit) {
    const { turned, buckets } = model as unknown as MoeConfig;
    const { queries } = task as unknown as ActionValueConfig;
    return new ActionSource(await openActions(paths, { turned, limit }), { queries, buckets, seed: train.seed });
  },
  objective: actionValueObjective,
  judge: judgeActionValue,

  summarise: (trained, judged) => ({
    train_bucket_accuracy: trained.bucketTop1,
    val_bucket_accuracy: judged?.bucketTop1 ?? null,
    train_value_mae: trained.valueMae,
    val_value_mae: judged?.valueMae ?? null,
    val_kendall_tau: judged?.kendallTau ?? null,
    val_best_move: judged?.bestMove ?? null,
  }),
  describeEpoch({ epoch, train_loss, train_bucket_accuracy, train_value_mae }, judged) {
    const trained = `epoch ${epoch}: loss ${train_loss.toFixed(3)}, bucket found ${percent(train_bucket_accuracy ?? 0)}, win probability off by ${train_value_mae?.toFixed(3)}`;
    if (!judged) return trained;
    return `${trained}; unseen: loss ${judged.loss.toFixed(3)}, bucket ${percent(judged.bucketTop1)} (in five ${percent(judged.bucketTop5)}), off by ${judged.valueMae.toFixed(3)}, tau ${judged.kendallTau.toFixed(3)}, best move ${percent(judged.bestMove)}`;
  },
  describe: describeActionValue,
};

interface ActionValueObjective extends Objective {
  /** Of each row and query [n, queries]: what the judge needs. */
  judged: Record<string, Tensor>;
}

/** The distribution of the win probability of each move asked about. */
export function actionValueObjective(
  network: Moe,
  { queries, target, sigma, balanceWeight }: ActionValueConfig,
): ActionValueObjective {
  const { buckets } = network.config;
  const shape = ["n", queries] as const;
  const bucket = input("bucket", shape, "int32").transpose(); // [queries, n], like the logits
  const winProbability = input("winProbability", shape).transpose();
  const weight = input("weight", shape).transpose();
  const answer = network.forward(input("tokens", ["n", FEN_TOKENS], "int32"), input("actions", shape, "int32"));
  const { logits, routing } = answer; // [queries, n, buckets]
  const value = network.values(answer).transpose(); // [queries, n]

  const loss = crossEntropy(logits, targetOf(target, bucket, winProbability, buckets, sigma)); // [queries, n]
  const bucketLoss = target === "one-hot" ? loss : crossEntropy(logits, bucket);
  const wanted = logits.take(bucket.reshape([queries, "n", 1]));
  const better = logits.greater(wanted).cast("float32").sum(-1); // buckets the network likes more than the true one
  const total = weight.sum();
  const mean = (x: Tensor) => x.mul(weight).sum().div(total);

  const balances = routing.map(({ logits: routed, choices }) => balanceLoss(routed, choices));
  const balance = balances.reduce<Tensor | undefined>((sum, each) => (sum ? sum.add(each) : each), undefined);
  const learnt = mean(loss);
  return {
    loss: balance && balanceWeight > 0 ? learnt.add(balance.mul(balanceWeight / balances.length)) : learnt,
    metrics: {
      valueLoss: learnt,
      bucketLoss: mean(bucketLoss),
      bucketTop1: mean(better.less(0.5).cast("float32")),
      valueMae: mean(value.sub(winProbability).abs()),
      ...(balance && { balance: balance.mul(1 / balances.length) }), // 1 if all experts are used alike
    },
    judged: {
      ...Object.fromEntries(
        Object.entries({ loss, bucketLoss, better, predicted: value }).map(([name, x]) => [name, x.transpose()]),
      ),
    },
  };
}

function targetOf(
  target: ActionValueConfig["target"],
  bucket: Tensor,
  winProbability: Tensor,
  buckets: number,
  sigma: number,
): Tensor {
  switch (target) {
    case "one-hot":
      return bucket;
    case "two-hot":
      return twoHot(
        winProbability,
        Array.from({ length: buckets }, (_, i) => bucketCentre(i, buckets)),
      );
    case "hl-gauss":
      return histogram(
        winProbability,
        Array.from({ length: buckets + 1 }, (_, i) => i / buckets),
        sigma / buckets,
      );
  }
}
