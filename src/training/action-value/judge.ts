import { Calibration, type CalibrationBin, kendallTau } from "#base";
import type { Moe } from "#models";
import { exportOnnx, Session } from "#tensor";
import type { BatchSource } from "../batches/batch-source.js";
import { type Judgement, type JudgeOptions, percent } from "../task.js";
import type { ActionRows } from "./action-rows.js";
import { type ActionValueConfig, actionValueObjective } from "./objective.js";

export interface ActionValueJudgement extends Judgement {
  moves: number;
  bucketLoss: number; // nats, of the true bucket
  perplexity: number; // exp(bucketLoss): between how many buckets the network wavers
  bucketTop1: number; // share of moves whose true bucket the network finds likeliest
  bucketTop5: number;
  valueMae: number; // mean absolute error of the expected win probability, 0..1
  valueRmse: number;
  kendallTau: number; // tau-b over the moves of a position, averaged over positions where they differ
  bestMove: number; // share of positions whose highest valued move is truly (one of) the best
  regret: number; // win probability lost by playing the highest valued move, on average
  calibrationError: number;
  calibration: CalibrationBin[];
}

/** Judges by every move of each position, however many there are. */
export async function judgeActionValue(
  network: Moe,
  source: BatchSource<ActionRows>,
  settings: ActionValueConfig,
  { limit = 0, batchSize = 64, device, threads, signal, onProgress }: JudgeOptions = {},
): Promise<ActionValueJudgement> {
  const session = await Session.open(exportOnnx(actionValueObjective(network, settings).judged), { device, threads });
  const sums = { loss: 0, bucketLoss: 0, top1: 0, top5: 0, error: 0, square: 0, tau: 0, best: 0, regret: 0 };
  const calibration = new Calibration(0, 1);
  let [positions, ranked, moves] = [0, 0, 0];
  let [predictions, truths]: [number[], number[]] = [[], []]; // of the position being gathered
  const finish = () => {
    const tau = kendallTau(predictions, truths);
    if (tau !== undefined) {
      sums.tau += tau;
      ranked++;
    }
    const chosen = truths[predictions.indexOf(Math.max(...predictions))];
    const best = Math.max(...truths);
    if (chosen === best) sums.best++;
    sums.regret += best - chosen;
    positions++;
    [predictions, truths] = [[], []];
  };
  const start = performance.now();
  try {
    let current = -1;
    judging: for await (const { batch, positions: rows } of source.batches({ size: batchSize })) {
      signal?.throwIfAborted();
      const { weight, ...asked } = batch;
      const results = await session.run(asked);
      const [loss, bucketLoss, better, predicted] = ["loss", "bucketLoss", "better", "predicted"].map(
        (name) => results[name].data as Float32Array,
      );
      const queries = predicted.length / rows.length;
      for (let i = 0; i < predicted.length; i++) {
        if (weight[i] === 0) continue;
        const position = rows[Math.floor(i / queries)];
        if (position !== current && current >= 0) finish();
        if (limit > 0 && positions === limit) break judging;
        current = position;
        const truth = batch.winProbability[i];
        predictions.push(predicted[i]);
        truths.push(truth);
        sums.loss += loss[i];
        sums.bucketLoss += bucketLoss[i];
        if (better[i] < 1) sums.top1++;
        if (better[i] < 5) sums.top5++;
        sums.error += Math.abs(predicted[i] - truth);
        sums.square += (predicted[i] - truth) ** 2;
        calibration.add(predicted[i], truth);
        moves++;
      }
      onProgress?.(positions);
    }
    if (predictions.length > 0) finish();
  } finally {
    await session.close();
  }
  const mean = (sum: number) => sum / moves;
  return {
    positions,
    moves,
    loss: mean(sums.loss),
    bucketLoss: mean(sums.bucketLoss),
    perplexity: Math.exp(mean(sums.bucketLoss)),
    bucketTop1: mean(sums.top1),
    bucketTop5: mean(sums.top5),
    valueMae: mean(sums.error),
    valueRmse: Math.sqrt(mean(sums.square)),
    kendallTau: sums.tau / Math.max(1, ranked),
    bestMove: sums.best / positions,
    regret: sums.regret / positions,
    ...calibration.result(),
    positionsPerSecond: positions / ((performance.now() - start) / 1000),
  };
}

export function describeActionValue(judged: ActionValueJudgement): string[] {
  return [
    `moves            ${judged.moves}`,
    `loss             ${judged.loss.toFixed(4)}  (of the true bucket ${judged.bucketLoss.toFixed(4)})`,
    `perplexity       ${judged.perplexity.toFixed(2)} buckets`,
    `bucket top-1     ${percent(judged.bucketTop1)}, top-5 ${percent(judged.bucketTop5)}`,
    `value MAE        ${judged.valueMae.toFixed(4)}  (RMSE ${judged.valueRmse.toFixed(4)}; win probability, 0 to 1)`,
    `Kendall's tau    ${judged.kendallTau.toFixed(4)} over the moves of a position`,
    `best move        ${percent(judged.bestMove)}, win probability lost by the choice ${judged.regret.toFixed(4)}`,
    ...Calibration.describe(judged),
  ];
}
