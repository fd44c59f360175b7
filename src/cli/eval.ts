import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSets } from "#data";
import { findWeights, loadNetwork } from "#models";
import { loadTaskSettings, parseSetting, resolveRecipe, resultShareOf, taskOf } from "#training";
import { command } from "./command.js";

export default command({
  name: "eval",
  summary:
    "Evaluate a network on positions it was not trained on: how often it finds the move, how accurate its values are.",
  details:
    "Averaged weights are used if the checkpoint has them, with the settings of its training. Calibration\n" +
    "groups positions by the network's value and compares it with the mean of the true values; a well calibrated\n" +
    "network has the same number in both columns.",
  examples: [
    "tabiya eval runs/a/best --data unseen.bin",
    "tabiya eval runs/a --data unseen.bin --limit 20000 --set resultShare=1 --json",
  ],
  arguments: { checkpoint: { help: "run, checkpoint folder or .safetensors file" } },
  options: {
    data: {
      type: "strings",
      help: "files, as for tabiya train: records, games (.pgn) or folders of them",
      default: [],
    },
    limit: { type: "integer", minimum: 1, help: "evaluate the first N positions only" },
    set: { type: "strings", help: "settings of what the family learns, as scoreScale=400 or resultShare=1" },
    batch: { type: "integer", default: 256, minimum: 1, help: "batch size" },
  },

  // Judged by the training's own judge, not through the evaluator of the players: losses need the network's logits for the
  // recipe's targets (buckets, tokens of boards, illegal moves too), of which the evaluator keeps shares of legal moves and a value.
  async run({ checkpoint, data, limit = 0, set, batch }, io) {
    const path = await findWeights(checkpoint);
    const { family, network } = await loadNetwork(path);
    const task = taskOf(family);
    const trained = await loadTaskSettings(path, task);
    const settings = Object.assign({}, ...(set ?? []).map(parseSetting));
    const recipe = resolveRecipe({ ...trained, ...settings, family, ...network.config }, "--set");
    const folder = mkdtempSync(join(tmpdir(), "tabiya-eval-")); // for records of games
    try {
      const resultShare = resultShareOf(recipe);
      const files = await openSets(data, { ...io, folder, role: "judge", resultShare });
      const source = await task.open(files, recipe, limit);
      const judging = task.judge(network, source, recipe, {
        batchSize: batch,
        signal: io.signal,
        onProgress: (positions) => io.progress(`${positions} of ${source.positions} positions`),
      });
      const judged = await judging.finally(() => source.close());
      const rate = Math.round(judged.positionsPerSecond);
      io.print(`${path} (${family}) on ${judged.positions} positions, ${rate} a second`);
      for (const line of task.describe(judged)) io.print(line);
      return { checkpoint: path, family, ...judged };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});
