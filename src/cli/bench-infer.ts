import { readBytes } from "#base";
import { type NnueWeights, readNnueNetwork } from "#formats";
import { nnueName, nnueRate, syntheticHalfKp, syntheticWide } from "#models";
import { command } from "./command.js";

export default command({
  name: "bench infer",
  summary: "Time NNUE networks: evaluations a second on one thread, update of the first layer included.",
  details: "Without a network, two of chance are timed: HalfKP 256x2-32-32-1 and 768 -> 256x2 -> 1.",
  examples: ["tabiya bench infer", "tabiya bench infer net.nnue --json"],
  arguments: { nets: { type: "strings", help: "network files", optional: true } },
  options: { seconds: { type: "number", default: 3, minimum: 0.01, help: "time for each network" } },
  async run({ nets, seconds }, { print }) {
    const networks: { name: string; weights: NnueWeights }[] = [];
    for (const file of nets ?? []) networks.push({ name: file, weights: readNnueNetwork(await readBytes(file), file) });
    if (networks.length === 0) {
      networks.push({ name: "synthetic HalfKP", weights: syntheticHalfKp(1) });
      networks.push({ name: "synthetic 768", weights: syntheticWide(1) });
    }
    const results = networks.map(({ name, weights }) => {
      const evaluationsPerSecond = Math.round(nnueRate(weights, seconds));
      const architecture = nnueName(weights);
      print(`${name} (${architecture}): ${(evaluationsPerSecond / 1e6).toFixed(2)} M evaluations/s`);
      return { name, architecture, evaluationsPerSecond };
    });
    return { rates: Object.fromEntries(results.map((r) => [r.name, r.evaluationsPerSecond])), networks: results };
  },
});
