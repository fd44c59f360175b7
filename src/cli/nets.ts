import { readBytes } from "#base";
import { type NnueWeights, readNnueNetwork } from "#formats";
import { findWeights, loadNetwork, nnueName, nnueParameters, shippedNets } from "#models";
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
  return { file, family, parameters, ...network.config, ...(await describeRun(path)) };
}

/** How a run stands, if the path is one. */
async function describeRun(path: string): Promise<Record<string, unknown>> {
  if (!(await RunFolder.isRun(path))) return {};
  const run = await RunFolder.open(path);
  const { state, message, last } = await run.status();
  const checkpoints = (await run.checkpoints()).map(({ name }) => name);
  return { state, ...(message && { message }), step: last?.step, epoch: last?.epoch, checkpoints };
}

export default command({
  name: "nets",
  summary: "List the networks that come with the program, or say what is in a file or checkpoint.",
  examples: ["tabiya nets", "tabiya nets runs/a", "tabiya nets net.nnue --json"],
  arguments: {
    file: { help: ".nnue, .jnn, .tnn, .safetensors or lc0 .pb.gz file, checkpoint or run", optional: true },
  },
  async run({ file }, { print }) {
    const show = (values: Record<string, unknown>) => {
      for (const [key, value] of Object.entries(values))
        print(`${key.padEnd(14)} ${typeof value === "object" ? JSON.stringify(value) : value}`);
    };
    if (file !== undefined) {
      const summary = await summarise(file);
      show(summary);
      return summary;
    }
    const nets = [];
    for (const net of await shippedNets()) {
      const { file: _, ...facts } = await summarise(net.family);
      nets.push({ ...facts, ...net });
      show({ ...net, ...facts });
    }
    if (nets.length === 0) print("No network comes with this program.");
    return { nets };
  },
});
