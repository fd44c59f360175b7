// Throws damaged inputs at our parsers:  node fuzz/run.mjs [fen|san|uci|pgn|lc0] [--count N] [--seed S]
// Without a target all take their turn, --count inputs each. One line of JSON per target; the first input that breaks a
// property, crashes or hangs is printed with its seed, and the exit code is 1. Needs `npm run build`.

import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Random } from "#base";

const TARGETS = ["fen", "san", "uci", "pgn", "lc0"];
const BATCH = 256; // inputs between two signs of life
const PATIENCE = 30_000; // milliseconds without one

async function fuzz({ target, count, seed }) {
  const { next, check } = (await import(`./${target}.mjs`)).create(new Random(seed));
  let accepted = 0;
  let slowestMs = 0;
  for (let i = 0; i < count; i++) {
    const input = next();
    if (i % BATCH === 0) parentPort.postMessage({ progress: i });
    const start = performance.now();
    try {
      if (check(input)) accepted++;
    } catch (error) {
      parentPort.postMessage({ failure: { target, seed, i, input, error: error.stack } });
      return;
    }
    slowestMs = Math.max(slowestMs, performance.now() - start);
  }
  parentPort.postMessage({ result: { target, seed, inputs: count, accepted, slowestMs: Math.round(slowestMs) } });
}

/** Runs one target in a thread, so that a hang is noticed. */
function watch(job) {
  return new Promise((resolve) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: job });
    let at = 0;
    const fail = (failure) => {
      clearTimeout(timer);
      console.log(JSON.stringify(failure));
      worker.terminate();
      resolve(false);
    };
    const late = () => fail({ target: job.target, seed: job.seed, error: `hangs after input ${at} of the seed` });
    let timer = setTimeout(late, PATIENCE);
    worker.on("message", ({ progress, failure, result }) => {
      clearTimeout(timer);
      if (failure) return fail(failure);
      if (result) {
        console.log(JSON.stringify(result));
        return resolve(true);
      }
      at = progress;
      timer = setTimeout(late, PATIENCE);
    });
    worker.on("error", (error) => fail({ target: job.target, seed: job.seed, error: error.stack }));
  });
}

if (isMainThread) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { count: { type: "string", default: "100000" }, seed: { type: "string", default: "1" } },
  });
  const targets = positionals.length > 0 ? positionals : TARGETS;
  const unknown = targets.find((target) => !TARGETS.includes(target));
  if (unknown !== undefined) {
    console.error(`There is no target "${unknown}"; there are: ${TARGETS.join(", ")}.`);
    process.exit(1);
  }
  for (const target of targets) {
    const done = await watch({ target, count: Number(values.count), seed: Number(values.seed) });
    if (!done) process.exitCode = 1;
  }
} else {
  await fuzz(workerData);
}
