import { CERTAINTY } from "#chess";
import { bucketCentre, FEN_TOKENS } from "#encodings";
import type { Moe } from "#models";
import { balanceLoss, crossEntropy, histogram, input, type Tensor, twoHot } from "#tensor";
import type { Objective } from "../graph-learner.js";

export const TARGETS = ["one-hot", "two-hot", "hl-gauss"] as const;

/** Settings of networks that learn the win probability of moves. */
export interface ActionValueConfig {
  queries: number;
  target: (typeof TARGETS)[number];
  sigma: number;
  balanceWeight: number;
  rankingWeight: number;
  rankingScale: number;
  rankingOdds: number;
}

interface ActionValueObjective extends Objective {
  /** Of each row and query [n, queries]: what the judge needs. */
  judged: Record<string, Tensor>;
}

/** The distribution of the win probability of each move asked about. */
export function actionValueObjective(
  network: Moe,
  { queries, target, sigma, balanceWeight, rankingWeight, rankingScale, rankingOdds }: ActionValueConfig,
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
  const ranking = rankingLoss(value, winProbability, weight, { scale: rankingScale, odds: rankingOdds });
  const terms = rankingWeight > 0 ? learnt.add(ranking.mul(rankingWeight)) : learnt;
  return {
    loss: balance && balanceWeight > 0 ? terms.add(balance.mul(balanceWeight / balances.length)) : terms,
    metrics: {
      valueLoss: learnt,
      bucketLoss: mean(bucketLoss),
      ...(rankingWeight > 0 && { ranking }),
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

/** What `preferenceOf` of `chess` says of a number, of each element. */
function preferences(probability: Tensor, odds: number): Tensor {
  if (odds === 0) return probability;
  const p = probability.clip(CERTAINTY, 1 - CERTAINTY);
  return p.add(p.log().sub(p.neg().add(1).log()).mul(odds));
}

/**
 * Cross-entropy between two policies over the moves of a position, softmax(preference / scale) of the truth and of the
 * network: buckets alone teach what a position is worth, not how its moves differ. All [queries, n].
 */
function rankingLoss(value: Tensor, truth: Tensor, weight: Tensor, by: { scale: number; odds: number }): Tensor {
  const isMove = weight.greater(0.5).transpose(); // [n, queries]
  const [found, wanted] = [value, truth].map((x) => preferences(x.transpose(), by.odds).mul(1 / by.scale));
  return crossEntropy(found, isMove.where(wanted.logSoftmax(isMove).exp(), 0), isMove).mean();
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
