import { readBytes, UserError, writeFile } from "#base";
import { type Position, parseFen } from "#chess";
import { openRecords } from "#formats";
import {
  averageWeights,
  EXPORT_FORMATS,
  type ExportFormat,
  exportNetwork,
  findWeights,
  isNnueFile,
  type NamedNetwork,
  randomPositions,
  readNetwork,
  rewriteNnue,
} from "#models";
import { type RunCheckpoint, RunFolder } from "#training";
import { command } from "./command.js";

const SAMPLES = 256; // positions that ranges and differences are measured on, by default
const FORMATS = Object.keys(EXPORT_FORMATS) as ExportFormat[];

/** The first positions of a file. */
async function readPositions(path: string, count: number): Promise<Position[]> {
  const positions: Position[] = [];
  for await (const records of await openRecords(path)) {
    for (const { fen } of records) {
      if (positions.length === count) return positions;
      positions.push(parseFen(fen));
    }
  }
  return positions;
}

/** The checkpoints of a run's epochs. */
async function epochsOf(run: string): Promise<RunCheckpoint[]> {
  const epochs = await (await RunFolder.open(run)).epochs();
  if (epochs.length > 0) return epochs;
  throw new UserError("CHECKPOINT_MISSING", `${run}: no checkpoints of epochs in this folder, as --all wants them.`);
}

async function readNamed(name: string): Promise<NamedNetwork> {
  const path = await findWeights(name);
  if (!isNnueFile(path)) return { path, ...readNetwork(await readBytes(path), path) };
  throw new UserError("AVERAGE_INTEGERS", `${path}: its weights are integers; average the runs they came from.`);
}

export default command({
  name: "export",
  summary: "Export a trained network for other programs, and measure how much accuracy is lost.",
  details:
    "Averaged weights are used if the checkpoint has them; optimiser state and everything else that only training needs is\n" +
    "left out. The difference is the largest one between any output and the network's own, over sample positions: of random\n" +
    "games, or better from --data. --int8 is calibrated on these positions too.\n" +
    "The file extension decides the format, unless an option does.",
  examples: [
    "tabiya export runs/a net.onnx",
    "tabiya export runs/nnue net.tnn",
    "tabiya export nnue net.raw",
    "tabiya export maia-1500.pb.gz --onnx maia-1500.onnx",
    "tabiya export runs/nnue --nnue net.nnue --all",
    "tabiya export runs/a net.safetensors --average runs/b runs/c",
    "tabiya export runs/a/best --int8 net.int8.onnx --data unseen.bin --json",
  ],
  arguments: {
    checkpoint: {
      help: "run, checkpoint folder, .safetensors, .tnn, .nnue or .jnn file, lc0 network, or a built-in one",
    },
    out: { help: "the file to write" },
  },
  options: {
    onnx: { type: "boolean", help: EXPORT_FORMATS.onnx },
    fp16: { type: "boolean", help: EXPORT_FORMATS.fp16 },
    int8: { type: "boolean", help: EXPORT_FORMATS.int8 },
    safetensors: { type: "boolean", help: EXPORT_FORMATS.safetensors },
    nnue: { type: "boolean", help: EXPORT_FORMATS.nnue },
    jnn: { type: "boolean", help: EXPORT_FORMATS.jnn },
    tnn: { type: "boolean", help: EXPORT_FORMATS.tnn },
    raw: { type: "boolean", help: EXPORT_FORMATS.raw },
    all: { type: "boolean", help: "every checkpoint of a run, each to a file with the epoch in its name" },
    average: {
      type: "strings",
      help: "networks that began with the same weights: the mean of theirs and its own is exported",
    },
    data: { help: "a file of positions to measure on, instead of random ones" },
    samples: { type: "integer", default: SAMPLES, minimum: 1, help: "how many positions to measure on" },
  },

  async run({ checkpoint, out, average = [], data, samples, all, ...flags }, io) {
    const bySuffix = FORMATS.filter((format) => out.endsWith(`.${format}`));
    const flagged = FORMATS.filter((format) => flags[format]);
    const asked = flagged.length > 0 ? flagged : bySuffix;
    if (asked.length !== 1) {
      throw new UserError(
        "EXPORT_FORMAT",
        `tabiya export: the name ${out} does not say which format: one of ${FORMATS.map((format) => `--${format}`).join(", ")} is needed, found ${asked.map((format) => `--${format}`).join(" and ") || "none"}.`,
      );
    }
    const positions = data === undefined ? randomPositions(samples, 1) : await readPositions(data, samples);
    const others = await Promise.all(average.map(readNamed));
    const write = async (from: string, to: string) => {
      const path = await findWeights(from);
      if (isNnueFile(path) && others.length === 0) {
        const bytes = rewriteNnue(await readBytes(path), path, asked[0]);
        await writeFile(to, bytes);
        io.print(`${to}: the same integers as ${path}, ${bytes.length} bytes`);
        return { out: to, format: asked[0], checkpoint: path, bytes: bytes.length };
      }
      const own = await readNamed(from);
      averageWeights(own, others);
      const { family, network } = own;
      const { bytes, differences } = await exportNetwork(family, network, asked[0], positions);
      await writeFile(to, bytes);
      const maxDifference = Math.max(...Object.values(differences));
      const sources = [path, ...others.map((other) => other.path)];
      io.print(`${to}: ${family} from ${sources.join(", ")}, ${bytes.length} bytes`);
      for (const [name, difference] of Object.entries(differences))
        io.print(`  ${name} differs by ${difference.toPrecision(2)} at most, on ${positions.length} positions`);
      return { out: to, format: asked[0], checkpoint: path, bytes: bytes.length, maxDifference, differences, positions: positions.length }; // biome-ignore format: a list
    };
    if (!all) return write(checkpoint, out);
    const exported = [];
    for (const { name, path } of await epochsOf(checkpoint))
      exported.push(await write(path, out.replace(/(\.[^./]*)?$/, `.${name}$1`)));
    return { exported };
  },
});
