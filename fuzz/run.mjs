// Throws damaged inputs at our readers:  node fuzz/run.mjs [TARGET...] [--count N] [--seed S] [--seconds T]
// Without a target all take their turn, --count inputs each, or as many as come in --seconds. One line of JSON per target; the first input that breaks a
// property, crashes, hangs or takes more memory than it may is printed with its seed, and the exit code is 1.
// Needs `npm run build`. The targets are in targets.mjs.

import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Random } from "#base";
import { TARGETS } from "./targets.mjs";

const PATIENCE_MS = 30_000; // of the processor's time, for one input: on the clock, a machine with much else to do looks like a hang
const LOOK_MS = 1_000;
const HEAP_MB = 512;
const YOUNG_MB = 64; // a thread has little by default, and is collected all the time

async function fuzz({ target, count, seed, seconds, at }) {
  // Some wait for others: their inputs are given side by side.
  const { next, check, close, slots = 1 } = await TARGETS[target](new Random(seed));
  const start = performance.now();
  let accepted = 0;
  let slowestMs = 0;
  let inputs = 0;
  const work = async () => {
    while (inputs < count && performance.now() - start < seconds * 1000) {
      const i = inputs++;
      const input = next();
      Atomics.store(at, 0, i);
      const before = performance.now();
      try {
        if (await check(input)) accepted++;
      } catch (error) {
        throw { i, ...show(input), error: error.stack };
      }
      slowestMs = Math.max(slowestMs, performance.now() - before);
    }
  };
  try {
    await Promise.all(Array.from({ length: slots }, work));
  } catch (failure) {
    parentPort.postMessage({ failure: { target, seed, ...failure } });
    return;
  }
  await close?.();
  const took = Math.round((performance.now() - start) / 1000);
  parentPort.postMessage({
    result: { target, seed, inputs, accepted, slowestMs: Math.round(slowestMs), seconds: took },
  });
}

const show = (input) => (typeof input === "string" ? { input } : { base64: Buffer.from(input).toString("base64") });

/** Runs one target in a thread, so that a hang is noticed. */
function watch(job) {
  return new Promise((resolve) => {
    const at = new Int32Array(new SharedArrayBuffer(4)).fill(-1);
    const worker = new Worker(new URL(import.meta.url), {
      workerData: { ...job, at },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB },
    });
    let finished = false;
    const finish = (line, good) => {
      if (finished) return;
      finished = true;
      clearInterval(timer);
      console.log(JSON.stringify(line));
      worker.terminate().then(() => resolve(good));
    };
    let last = -1; // none yet: corpora are being made
    let since = process.cpuUsage(); // when that input began
    const timer = setInterval(() => {
      const now = Atomics.load(at, 0);
      const { user, system } = process.cpuUsage(since); // microseconds
      if (now !== last) since = process.cpuUsage();
      else if (now >= 0 && user + system > PATIENCE_MS * 1000)
        finish({ target: job.target, seed: job.seed, i: now, error: "hangs" }, false);
      last = now;
    }, LOOK_MS);
    worker.on("message", ({ failure, result }) => finish(failure ?? result, failure === undefined));
    worker.on("exit", () => finish({ target: job.target, seed: job.seed, i: Atomics.load(at, 0), error: "waits for ever" }, false)); // biome-ignore format: one thought
    worker.on("error", (error) =>
      finish({ target: job.target, seed: job.seed, i: Atomics.load(at, 0), error: error.stack }, false),
    );
  });
}

if (isMainThread) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: "string", default: "100000" },
      seed: { type: "string", default: "1" },
      seconds: { type: "string", default: "Infinity" }, // for each target
    },
  });
  const known = Object.keys(TARGETS);
  const targets = positionals.length > 0 ? positionals : known;
  const unknown = targets.find((target) => !known.includes(target));
  if (unknown !== undefined) {
    console.error(`There is no target "${unknown}"; there are: ${known.join(", ")}.`);
    process.exit(1);
  }
  const [count, seed, seconds] = [values.count, values.seed, values.seconds].map(Number);
  for (const target of targets) {
    const done = await watch({ target, count, seed, seconds });
    if (!done) process.exitCode = 1;
  }
} else {
  await fuzz(workerData);
}
