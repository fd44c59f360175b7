import { findWeights, loadNetwork } from "#models";
import { loadTaskSettings, parseSetting, resolveRecipe, taskOf } from "#training";
import { command } from "./command.js";

export default command({
  name: "eval",
  summary:
    "Judge a network on positions it has not learnt from: how often it finds the move, how far off its values are.",
  details:
    "The averaged weights are judged where the checkpoint has them, by the settings it was trained with. Calibration\n" +
    "groups positions by the value the network gives them and compares with the true values' mean; a well calibrated\n" +
    "network has the same in both columns.",
  examples: [
    "tabiya eval runs/a/best --data unseen.bin",
    "tabiya eval runs/a --data unseen.bin --limit 20000 --set resultShare=1 --json",
  ],
  arguments: { checkpoint: { help: "run, checkpoint folder or .safetensors file" } },
  options: {
    data: { type: "strings", help: "files of positions: .bin, .binpack, .plain or scored .jsonl", default: [] },
    limit: { type: "integer", minimum: 1, help: "judge by the first N positions" },
    set: { type: "strings", help: "settings of what the family learns, as scoreScale=400 or resultShare=1" },
    batch: { type: "integer", default: 256, minimum: 1, help: "positions judged at once" },
  },

  async run({ checkpoint, data, limit = 0, set, batch }, io) {
    const path = await findWeights(checkpoint);
    const { family, network } = await loadNetwork(path);
    const task = taskOf(family);
    const trained = await loadTaskSettings(path, task);
    const settings = Object.assign({}, ...(set ?? []).map(parseSetting));
    const recipe = resolveRecipe({ ...trained, ...settings, family, ...network.config }, "--set");
    const source = await task.open(data, recipe, limit);
    const judging = task.judge(network, source, recipe, {
      batchSize: batch,
      signal: io.signal,
      onProgress: (positions) => io.progress(`${positions} of ${source.positions} positions`),
    });
    const judged = await judging.finally(() => source.close());
    io.print(`${path} (${family}) on ${judged.positions} positions, ${Math.round(judged.positionsPerSecond)} a second`);
    for (const line of task.describe(judged)) io.print(line);
    return { checkpoint: path, family, ...judged };
  },
});
