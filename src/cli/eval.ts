import { loadNetwork } from "#models";
import { findWeights, judge, loadPacked, TRAIN_DEFAULTS } from "#training";
import { command } from "./command.js";

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

export default command({
  name: "eval",
  summary:
    "Judge a network on positions it has not learnt from: how often it finds the move, how far off its values are.",
  details:
    "The averaged weights are judged where the checkpoint has them. Calibration groups positions by the value the\n" +
    "network gives them and compares with the true values' mean; a well calibrated network has the same in both columns.",
  examples: ["tabiya eval runs/a/best --data unseen.bin", "tabiya eval runs/a --data unseen.bin --limit 20000 --json"],
  arguments: { checkpoint: { help: "run, checkpoint folder or .safetensors file" } },
  options: {
    data: { type: "strings", help: "files of positions: .bin, .binpack, .plain or scored .jsonl", default: [] },
    limit: { type: "integer", minimum: 1, help: "judge by the first so many positions" },
    scoreScale: {
      type: "number",
      default: TRAIN_DEFAULTS.scoreScale,
      help: "centipawns k in the value tanh(score / k)",
    },
    resultShare: { type: "number", default: 0, minimum: 0, help: "of the game's result in the true value, 0 to 1" },
    batch: { type: "integer", default: 256, minimum: 1, help: "positions judged at once" },
  },

  async run({ checkpoint, data, limit = 0, scoreScale, resultShare, batch }, io) {
    const path = await findWeights(checkpoint);
    const { family, network } = await loadNetwork(path);
    const { board } = network.config;
    const source = await loadPacked(data, { board, seed: 1, scoreScale, resultShare, limit });
    const judged = await judge(network, source, {
      batchSize: batch,
      signal: io.signal,
      onProgress: (positions) => io.progress(`${positions} of ${source.positions} positions`),
    });
    const { calibration } = judged;
    io.print(`${path} (${family}) on ${judged.positions} positions, ${Math.round(judged.positionsPerSecond)} a second`);
    io.print(
      `loss             ${judged.loss.toFixed(4)}  (policy ${judged.policyLoss.toFixed(4)}, value ${judged.valueLoss.toFixed(4)})`,
    );
    io.print(`perplexity       ${judged.perplexity.toFixed(2)} moves`);
    io.print(
      `move found       ${percent(judged.policyTop1)}, in three ${percent(judged.policyTop3)}, in five ${percent(judged.policyTop5)}`,
    );
    io.print(`value off by     ${judged.valueMae.toFixed(4)}  (root mean square ${judged.valueRmse.toFixed(4)})`);
    io.print(`calibration off  ${judged.calibrationError.toFixed(4)}`);
    for (const bin of calibration) {
      io.print(
        `  ${bin.from.toFixed(1).padStart(4)} .. ${bin.to.toFixed(1).padStart(4)}  ${String(bin.positions).padStart(8)} positions  predicted ${bin.predicted.toFixed(3).padStart(6)}  true ${bin.actual.toFixed(3).padStart(6)}`,
      );
    }
    return { checkpoint: path, family, ...judged };
  },
});
