import { type Calibrated, Calibration } from "#base";
import type { Residual } from "#models";
import { exportOnnx, Session } from "#tensor";
import type { BatchSource } from "../batches/batch-source.js";
import { type Judgement, type JudgeOptions, percent } from "../task.js";
import { type PolicyValueConfig, policyValueObjective } from "./objective.js";
import type { PolicyValueBatch } from "./plane-encoder.js";

export interface PolicyValueJudgement extends Judgement, Calibrated {
  policyLoss: number; // nats
  perplexity: number; // exp(policyLoss): between how many moves the network wavers
  valueLoss: number;
  policyTop1: number; // share of positions whose move the network likes best among the legal ones
  policyTop3: number;
  policyTop5: number;
  valueMae: number; // mean absolute error, -1..1
  valueRmse: number;
}

/** Judges a residual network by positions it has not learnt from. */
export async function judgePolicyValue(
  network: Residual,
  source: BatchSource<PolicyValueBatch>,
  { policyWeight, valueWeight }: Pick<PolicyValueConfig, "policyWeight" | "valueWeight">,
  options: JudgeOptions = {},
): Promise<PolicyValueJudgement> {
  const { limit = 0, batchSize = 256, device, threads } = options;
  const session = await Session.open(exportOnnx(policyValueObjective(network, { policyWeight, valueWeight }).judged), {
    device,
    threads,
  });
  const sums = { policyLoss: 0, valueLoss: 0, top1: 0, top3: 0, top5: 0, error: 0, square: 0 };
  const calibration = new Calibration(-1, 1);
  let positions = 0;
  const start = performance.now();
  try {
    for await (const batch of source.batches({ size: batchSize })) {
      options.signal?.throwIfAborted();
      const results = await session.run(batch);
      const [policyLoss, valueLoss, better, value] = ["policyLoss", "valueLoss", "better", "predicted"].map(
        (name) => results[name].data as Float32Array,
      );
      for (let i = 0; i < value.length; i++) {
        sums.policyLoss += policyLoss[i];
        sums.valueLoss += valueLoss[i];
        if (better[i] < 1) sums.top1++;
        if (better[i] < 3) sums.top3++;
        if (better[i] < 5) sums.top5++;
        const error = value[i] - batch.value[i];
        sums.error += Math.abs(error);
        sums.square += error * error;
        calibration.add(value[i], batch.value[i]);
      }
      positions += value.length;
      options.onProgress?.(positions);
      if (limit > 0 && positions >= limit) break;
    }
  } finally {
    await session.close();
  }
  const [policyLoss, valueLoss] = [sums.policyLoss / positions, sums.valueLoss / positions];
  return {
    positions,
    loss: policyLoss * policyWeight + valueLoss * valueWeight,
    policyLoss,
    perplexity: Math.exp(policyLoss),
    valueLoss,
    policyTop1: sums.top1 / positions,
    policyTop3: sums.top3 / positions,
    policyTop5: sums.top5 / positions,
    valueMae: sums.error / positions,
    valueRmse: Math.sqrt(sums.square / positions),
    ...calibration.result(),
    positionsPerSecond: positions / ((performance.now() - start) / 1000),
  };
}

export function describePolicyValue(judged: PolicyValueJudgement): string[] {
  return [
    `loss             ${judged.loss.toFixed(4)}  (policy ${judged.policyLoss.toFixed(4)}, value ${judged.valueLoss.toFixed(4)})`,
    `perplexity       ${judged.perplexity.toFixed(2)} moves`,
    `top-1            ${percent(judged.policyTop1)}, top-3 ${percent(judged.policyTop3)}, top-5 ${percent(judged.policyTop5)}`,
    `value MAE        ${judged.valueMae.toFixed(4)}  (RMSE ${judged.valueRmse.toFixed(4)})`,
    ...Calibration.describe(judged),
  ];
}
