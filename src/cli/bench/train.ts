import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { messageOf, suggestion, UserError } from "#base";
import { parametersOf, Trainer } from "#tensor";
import { command, type Io } from "../command.js";
import { packageFile } from "../package-file.js";
import { BENCH_NETS } from "./train-nets.js";

/**
 * glibc gives large blocks back to the system after every use and pays for fresh pages in the next step. These
 * settings, which must stand before a process starts, spare that; PyTorch's side (bench/torch/step.py) gets them too.
 */
const MALLOC = {
  MALLOC_MMAP_THRESHOLD_: "1073741824",
  MALLOC_TRIM_THRESHOLD_: "4294967296",
  MALLOC_TOP_PAD_: "268435456",
};

export const PAUSE_MS = 250; // between turns: the other side's idle threads have stopped spinning by then

interface Peer {
  name: string;
  settings: Record<string, unknown>;
  step(): Promise<number>; // milliseconds
  stop(): void;
}

export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts a script of bench/torch that answers each "go" with the milliseconds of a step. */
export async function startTorch(file: string, args: readonly string[]): Promise<Peer> {
  const [name] = args;
  const python = process.env.TABIYA_PYTHON ?? "python3";
  const script = packageFile(`bench/torch/${file}`);
  const child = spawn(python, [script, ...args], {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, ...MALLOC },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const missing = (why: string) =>
    new UserError(
      "TORCH_MISSING",
      `PyTorch was not found by ${python}: ${why}\nInstall it (pip install torch) and set TABIYA_PYTHON to that python.`,
    );
  const failed = once(child, "error").then(([error]) => {
    throw missing(messageOf(error));
  });
  const next = async (): Promise<Record<string, unknown>> => {
    const { value, done } = await Promise.race([lines.next(), failed]);
    if (done) throw missing("it ended without an answer");
    const answer = JSON.parse(value);
    if (answer.error) throw missing(answer.error);
    return answer;
  };
  const settings = await next();
  return {
    name,
    settings,
    async step() {
      child.stdin.write("go\n");
      return (await next()).ms as number;
    },
    stop: () => child.kill(),
  };
}

const best = (times: readonly number[]) => Math.min(...times);
const median = (times: readonly number[]) => [...times].sort((a, b) => a - b)[times.length >> 1];
const rounded = (value: number, digits = 1) => Number(value.toFixed(digits));

/** Steps of one net in this process, in turns with PyTorch's. */
async function benchOne(name: string, steps: number, against: string | undefined, io: Io): Promise<object> {
  const { build, peers: names } = BENCH_NETS[name];
  const { model, loss, batches, replicas } = build();
  const trainer = await Trainer.open({
    model,
    loss,
    optimiser: { name: "adamw", weightDecay: 0.01 },
    decays: () => true,
    learningRate: 1e-3,
    replicas,
  });
  const parameters = parametersOf(model).reduce((sum, { trainable, data }) => sum + (trainable ? data.length : 0), 0);
  const peers: Peer[] = [];
  const times: number[] = [];
  const theirs: number[][] = [];
  let latest = { loss: 0 };
  const step = async () => {
    const start = performance.now();
    latest = await trainer.step(batches);
    return performance.now() - start;
  };
  try {
    for (const peer of against ? names : []) peers.push(await startTorch("step.py", [peer]));
    for (let i = 0; i < 3; i++) await step(); // the first ones allocate
    for (let i = 0; i < steps && !io.signal.aborted; i++) {
      if (peers.length > 0) await pause(PAUSE_MS);
      times.push(await step());
      for (const [k, peer] of peers.entries()) {
        await pause(PAUSE_MS);
        theirs[k] = [...(theirs[k] ?? []), await peer.step()];
      }
    }
  } finally {
    for (const peer of peers) peer.stop();
    await trainer.close();
  }
  io.signal.throwIfAborted();
  const ours = { bestMs: rounded(best(times)), medianMs: rounded(median(times)) };
  return {
    net: name,
    parameters,
    ...ours,
    loss: latest.loss,
    replicas,
    parts: batches.length,
    sessionMs: rounded(trainer.sessionMs),
    peakMemoryMb: rounded(process.resourceUsage().maxRSS / 1024, 0),
    against: peers.map(({ name: peer, settings }, k) => ({
      name: peer,
      bestMs: rounded(best(theirs[k])),
      medianMs: rounded(median(theirs[k])),
      ratio: rounded(best(theirs[k]) / best(times), 2),
      medianRatio: rounded(median(theirs[k]) / median(times), 2),
      settings,
    })),
  };
}

interface Result {
  net: string;
  bestMs: number;
  medianMs: number;
  sessionMs: number;
  peakMemoryMb: number;
  against: { name: string; bestMs: number; medianMs: number; ratio: number; medianRatio: number }[];
}

/** Runs one net in a process of its own, with its own memory and the settings of `MALLOC`. */
async function benchApart(
  name: string,
  steps: number,
  against: string | undefined,
  signal: AbortSignal,
): Promise<Result> {
  const args = ["bench", "train", name, "--steps", String(steps), "--here", "--json"];
  if (against) args.push("--against", against);
  const child = spawn(process.execPath, [process.argv[1], ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...MALLOC },
    signal,
  });
  let [out, errors] = ["", ""];
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => (errors += text));
  const [code] = await once(child, "close");
  if (code !== 0) throw new UserError("BENCH_FAILED", errors.trim());
  return JSON.parse(out).nets[0];
}

export default command({
  name: "bench train",
  summary: "Time whole training steps of five small networks, alone or alternating with PyTorch.",
  details:
    "A step is: inputs in, forward, backward, AdamW, loss out. Times are the best and the median of many; a ratio above 1 means that PyTorch takes longer. PyTorch is looked for with the python of TABIYA_PYTHON, else python3.",
  examples: ["tabiya bench train", "tabiya bench train transformer decoder --against torch --json"],
  arguments: { nets: { type: "strings", optional: true, help: `which of ${Object.keys(BENCH_NETS).join(", ")}` } },
  options: {
    steps: { type: "integer", default: 20, minimum: 1, help: "steps to time" },
    against: { choices: ["torch"], help: "alternate with this program" },
    here: { type: "boolean", help: "run in this process instead of one for each net" },
  },
  async run({ nets, steps, against, here }, io) {
    const known = Object.keys(BENCH_NETS);
    const chosen = nets === undefined || nets.length === 0 ? known : nets;
    for (const name of chosen) {
      if (!known.includes(name)) {
        throw new UserError(
          "BENCH_NET",
          `There is no net "${name}".${suggestion(name, known)}\nThere are: ${known.join(", ")}.`,
        );
      }
    }
    const results: object[] = [];
    for (const name of chosen) {
      io.note(`${name} ...`);
      if (here) {
        results.push(await benchOne(name, steps, against, io));
        continue;
      }
      const result = await benchApart(name, steps, against, io.signal);
      results.push(result);
      io.print(
        `${name.padEnd(15)} ${result.bestMs} ms a step (median ${result.medianMs}), session ${result.sessionMs} ms, ${result.peakMemoryMb} MB`,
      );
      for (const peer of result.against) {
        io.print(
          `  PyTorch ${peer.name}: ${peer.bestMs} ms (median ${peer.medianMs}), ratio ${peer.ratio} (${peer.medianRatio})`,
        );
      }
    }
    return { nets: results };
  },
});
