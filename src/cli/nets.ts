import { stat } from "node:fs/promises";
import { readBytes } from "#base";
import { type NnueWeights, readNnueNetwork } from "#formats";
import { FAMILIES, findWeights, loadNetwork, nnueName, nnueParameters, shippedNets } from "#models";
import { parametersOf } from "#tensor";
import { RunFolder } from "#training";
import { command } from "./command.js";

const describe = (weights: NnueWeights) => ({
  family: "nnue",
  architecture: nnueName(weights),
  parameters: nnueParameters(weights),
  description: weights.description,
});

async function summarise(path: string): Promise<Record<string, unknown>> {
  const file = await findWeights(path);
  if (!/\.(safetensors|pb|pb\.gz)$/i.test(file))
    return { file, ...describe(readNnueNetwork(await readBytes(file), file)) };
  const { family, network } = await loadNetwork(file);
  const parameters = parametersOf(network).reduce((sum, { data }) => sum + data.length, 0);
  const multiplyAdds = FAMILIES[family].multiplyAdds(network.config);
  return { file, family, parameters, multiplyAdds, ...network.config, ...(await describeRun(path)) };
}

/** How a run stands, if the path is one. */
async function describeRun(path: string): Promise<Record<string, unknown>> {
  if (!(await RunFolder.isRun(path))) return {};
  const run = await RunFolder.open(path);
  const { state, message, step, last } = await run.status();
  const checkpoints = (await run.checkpoints()).map(({ name }) => name);
  return { state, ...(message && { message }), step, epoch: last?.epoch, checkpoints };
}

export default command({
  name: "nets",
  summary: "List the networks that come with the program, or describe a network file or checkpoint.",
  examples: ["tabiya nets", "tabiya nets residual", "tabiya nets runs/a", "tabiya nets net.nnue --json"],
  arguments: {
    file: { help: ".nnue, .jnn, .tnn, .safetensors or lc0 .pb.gz file, checkpoint or run", optional: true },
  },
  async run({ file }, { print }) {
    const labels = await shippedNets();
    if (file !== undefined) {
      const label = labels.find(({ family }) => family === file);
      const summary = { ...(await summarise(file)), ...label };
      for (const [key, value] of Object.entries(summary)) print(`${key.padEnd(14)} ${format(value)}`);
      return summary;
    }
    const nets = [];
    for (const label of labels) {
      const { file: path, ...facts } = await summarise(label.family);
      nets.push({ ...facts, ...label });
      const megabytes = ((await stat(`${path}`)).size / 1e6).toFixed(1);
      print(`${label.family.padEnd(10)}${label.file.padEnd(28)}${megabytes.padStart(4)} MB  ${label.summary}`);
    }
    print(
      nets.length === 0
        ? "No network comes with this program."
        : `\nPlay one: tabiya play ${labels[0].family}. What is known of it: tabiya nets ${labels[0].family}.`,
    );
    return { nets };
  },
});

/** A value in a line: what it holds as `name value, name value`. */
const format = (value: unknown): string =>
  Array.isArray(value)
    ? value.join(", ")
    : typeof value === "object" && value !== null
      ? Object.entries(value)
          .map(([name, one]) => `${name} ${format(one)}`)
          .join(", ")
      : String(value);
