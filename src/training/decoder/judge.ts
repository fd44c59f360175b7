import { type Calibrated, Calibration } from "#base";
import { BOARD_TOKENS } from "#encodings";
import { type Decoder, POSITION_TOKENS } from "#models";
import { exportOnnx, Session } from "#tensor";
import type { BatchSource } from "../batches/batch-source.js";
import { type Judgement, type JudgeOptions, percent } from "../task.js";
import { type DecoderTaskConfig, decoderObjective, pickFeeds } from "./objective.js";
import type { WindowArrays } from "./window-encoder.js";

export interface DecoderJudgement extends Judgement, Calibrated {
  boardLoss: number; // nats a token
  policyLoss: number;
  winLossLoss: number;
  drawLoss: number;
  boardTokens: number; // share of the tokens of boards that the board head likes best, each after the true ones before it
  wholeBoards: number; // share of the boards of which all are
  policyTop1: number; // share of positions whose move the policy likes best among the legal ones
  policyTop5: number;
  illegal: number; // share of the policy that illegal moves have before they are masked
  winLossMae: number; // mean absolute error of win minus loss, -1..1
  winLossFirstMae: number; // of the first values of windows, which no value before them tells; these are calibrated too
  drawMae: number; // and of the share of draws, 0..1
}

export async function judgeDecoder(
  network: Decoder,
  source: BatchSource<WindowArrays>,
  settings: DecoderTaskConfig,
  { limit = 0, batchSize = 64, device, threads, signal, onProgress }: JudgeOptions = {},
): Promise<DecoderJudgement> {
  const { context } = settings;
  const session = await Session.open(exportOnnx(decoderObjective(network, settings).judged), { device, threads });
  const sums = { policy: 0, winLoss: 0, draw: 0, top1: 0, top5: 0, lawful: 0 };
  const errors = { winLoss: 0, draw: 0, first: 0, firsts: 0 };
  const boards = { loss: 0, targets: 0, tokens: 0, right: 0, boards: 0, whole: 0 };
  const calibration = new Calibration(-1, 1);
  let positions = 0;
  const start = performance.now();
  try {
    for await (const batch of source.batches({ size: batchSize })) {
      signal?.throwIfAborted();
      const results = await session.run(pickFeeds(batch, session.inputs));
      const of = (name: string) => results[name].data as Float32Array;
      const rows = of("moveLoss").length / context;
      const [moveLoss, winLossLoss, drawLoss, better, lawful, winLoss, draw] = [
        "moveLoss", "winLossLoss", "drawLoss", "better", "lawful", "winLoss", "draw",
      ].map(of); // biome-ignore format: a list
      for (let i = 0; i < moveLoss.length; i++) {
        const at = (i % rows) * context * POSITION_TOKENS + Math.floor(i / rows) * POSITION_TOKENS; // its first token
        if (batch.moveTargets[at + BOARD_TOKENS - 1] < 0) continue;
        positions++;
        sums.policy += moveLoss[i];
        sums.winLoss += winLossLoss[i];
        sums.draw += drawLoss[i];
        if (better[i] < 1) sums.top1++;
        if (better[i] < 5) sums.top5++;
        sums.lawful += lawful[i];
        const truth = batch.winLossTargets[at + BOARD_TOKENS];
        const error = Math.abs(winLoss[i] - truth);
        errors.winLoss += error;
        errors.draw += Math.abs(draw[i] - batch.drawTargets[at + BOARD_TOKENS + 1]);
        if (i >= rows) continue; // the first positions of all windows come first
        errors.firsts++;
        errors.first += error;
        calibration.add(winLoss[i], truth);
      }
      countBoards(batch, of("isRight"), of("boardLoss"), rows, boards);
      onProgress?.(positions);
      if (limit > 0 && positions >= limit) break;
    }
  } finally {
    await session.close();
  }
  const mean = (sum: number) => sum / Math.max(1, positions);
  const boardLoss = boards.loss / Math.max(1, boards.targets);
  const [policyLoss, winLossLoss, drawLoss] = [sums.policy, sums.winLoss, sums.draw].map(mean);
  const { boardWeight, moveWeight, winLossWeight, drawWeight } = settings;
  return {
    positions,
    loss: boardLoss * boardWeight + policyLoss * moveWeight + winLossLoss * winLossWeight + drawLoss * drawWeight,
    boardLoss,
    policyLoss,
    winLossLoss,
    drawLoss,
    boardTokens: boards.right / Math.max(1, boards.tokens),
    wholeBoards: boards.whole / Math.max(1, boards.boards),
    policyTop1: mean(sums.top1),
    policyTop5: mean(sums.top5),
    illegal: 1 - mean(sums.lawful),
    winLossMae: mean(errors.winLoss),
    winLossFirstMae: errors.first / Math.max(1, errors.firsts),
    drawMae: mean(errors.draw),
    ...calibration.result(),
    positionsPerSecond: positions / ((performance.now() - start) / 1000),
  };
}

/** Adds up what the board head said, [tokens of a row, rows]; boards are those that follow another in their row. */
function countBoards(
  { boardTargets }: WindowArrays,
  isRight: Float32Array,
  loss: Float32Array,
  rows: number,
  sums: { loss: number; targets: number; tokens: number; right: number; boards: number; whole: number },
): void {
  const length = boardTargets.length / rows;
  for (let row = 0; row < rows; row++) {
    let right = 0; // in a row, of the board that is being read
    for (let token = 0; token < length; token++) {
      const target = boardTargets[row * length + token];
      if (target < 0) continue;
      const at = token * rows + row;
      sums.targets++;
      sums.loss += loss[at];
      const slot = token % POSITION_TOKENS;
      if (slot >= BOARD_TOKENS - 1) continue; // what follows is no token of a board but its first, start_pos
      if (slot === 0) right = 0;
      right += isRight[at];
      if (slot < BOARD_TOKENS - 2) continue;
      sums.boards++;
      sums.tokens += BOARD_TOKENS - 1;
      sums.right += right;
      if (right === BOARD_TOKENS - 1) sums.whole++;
    }
  }
}

export function describeDecoder(judged: DecoderJudgement): string[] {
  const losses = `board ${judged.boardLoss.toFixed(4)}, policy ${judged.policyLoss.toFixed(4)}, win-loss ${judged.winLossLoss.toFixed(4)}, draw ${judged.drawLoss.toFixed(4)}`;
  return [
    `loss             ${judged.loss.toFixed(4)}  (${losses})`,
    `boards           ${percent(judged.boardTokens)} of the tokens, ${percent(judged.wholeBoards)} of whole boards right`,
    `moves            top-1 ${percent(judged.policyTop1)}, top-5 ${percent(judged.policyTop5)}, illegal ${percent(judged.illegal)} of the policy`,
    `values           mean error of win-loss ${judged.winLossFirstMae.toFixed(4)} (${judged.winLossMae.toFixed(4)} with those that see earlier values), of draws ${judged.drawMae.toFixed(4)}`,
    ...Calibration.describe(judged),
  ];
}
