import { parseFen, START_FEN } from "#chess";
import { PLAYING_FAMILIES, readNetworkFile } from "#engine";
import type { NnueWeights } from "#formats";
import {
  inferenceOf,
  nnueName,
  nnueRate,
  type RunnableNetwork,
  randomPositions,
  readRunnable,
  syntheticHalfKp,
  syntheticWide,
} from "#models";
import { exportOnnx, type Feeds, Session } from "#tensor";
import { command } from "../command.js";

const BATCH = 64; // positions

/** Milliseconds of as many runs as there is time for, shortest first. */
async function timeRuns(session: Session, batches: readonly Feeds[], seconds: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < 3; i++) for (const feeds of batches) await session.run(feeds); // the first ones allocate
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end || times.length === 0) {
    const start = performance.now();
    for (const feeds of batches) await session.run(feeds);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}

/** A network that ONNX Runtime runs: one position alone, and in a batch; the way to the worker and back included. */
async function benchGraph(name: string, { family, network, model }: RunnableNetwork, seconds: number, threads: number) {
  const { outputs, feeds } = inferenceOf(family, network);
  const session = await Session.open(model ?? exportOnnx(outputs), { threads });
  try {
    const one = await timeRuns(session, feeds([parseFen(START_FEN)]), seconds / 2);
    const many = await timeRuns(session, feeds(randomPositions(BATCH, 1)), seconds / 2);
    const rounded = (ms: number) => Number(ms.toFixed(3));
    return {
      name,
      architecture: family,
      positionMs: rounded(one[0]),
      positionMedianMs: rounded(one[one.length >> 1]),
      batchedPositionMs: rounded(many[0] / BATCH),
      evaluationsPerSecond: Math.round((BATCH / many[0]) * 1000),
    };
  } finally {
    await session.close();
  }
}

export default command({
  name: "bench infer",
  summary: "Time networks: milliseconds a position of a checkpoint, or evaluations a second of an NNUE file.",
  details:
    "An NNUE network is timed on one thread, update of the first layer included. Without a network, two untrained ones are\n" +
    "timed: HalfKP 256x2-32-32-1 and 768 -> 256x2 -> 1.",
  examples: ["tabiya bench infer", "tabiya bench infer net.nnue --json", "tabiya bench infer runs/a --threads 1"],
  arguments: { nets: { type: "strings", help: "network files, runs or checkpoints", optional: true } },
  options: {
    seconds: { type: "number", default: 3, minimum: 0.01, help: "time for each network" },
    threads: { type: "integer", default: 0, minimum: 0, help: "threads of a checkpoint's network; 0: one per core" },
  },
  async run({ nets = [], seconds, threads }, { print }) {
    const results: { name: string; architecture: string; evaluationsPerSecond: number }[] = [];
    const timeNnue = (name: string, weights: NnueWeights) => {
      const evaluationsPerSecond = Math.round(nnueRate(weights, seconds));
      const architecture = nnueName(weights);
      print(`${name} (${architecture}): ${(evaluationsPerSecond / 1e6).toFixed(2)} M evaluations/s`);
      results.push({ name, architecture, evaluationsPerSecond });
    };
    for (const path of nets) {
      const file = await readNetworkFile(path);
      const { nnue } = PLAYING_FAMILIES[file.family];
      if (nnue) {
        timeNnue(path, nnue(file));
        continue;
      }
      const timed = await benchGraph(path, readRunnable(file.bytes, file.path), seconds, threads);
      print(
        `${path} (${timed.architecture}): ${timed.positionMs} ms a position alone (median ${timed.positionMedianMs}), ` +
          `${timed.batchedPositionMs} ms in batches of ${BATCH}`,
      );
      results.push(timed);
    }
    if (nets.length === 0) {
      timeNnue("synthetic HalfKP", syntheticHalfKp(1));
      timeNnue("synthetic 768", syntheticWide(1));
    }
    const rates = Object.fromEntries(results.map((r) => [r.name, r.evaluationsPerSecond]));
    return { rates, networks: results };
  },
});
