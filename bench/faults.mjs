// Does to every command that writes what disks, administrators and power cuts do, and looks at what is left:
//   node bench/faults.mjs [--jobs "data import,train"] [--faults full,denied,kill,interrupt] [--times 50] [--seed 1] [--tmpfs]
// full:      a disk without room: a limit on the size of files, or with --tmpfs (as root) a small disk of its own
// denied:    a folder that may not be written to
// kill:      kill -9 at random moments, --times of them, and the command again (with --resume where it has one)
// interrupt: Ctrl-C at random moments, which must end it within two seconds, and the command again
// Each time an output that was there must stay as it was, the message must be one, and the command that is run again must
// write what one never disturbed writes, byte by byte. A row of the table for each; exit code 1 if one is bad.
// Needs `npm run build`.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"; // biome-ignore format: a list
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { Random } from "#base";

const FAULTS = ["full", "denied", "kill", "interrupt"];
const { values } = parseArgs({
  options: {
    jobs: { type: "string" },
    faults: { type: "string", default: FAULTS.join() },
    times: { type: "string", default: "3" },
    patience: { type: "string", default: "2" }, // seconds that Ctrl-C may take
    seed: { type: "string", default: "1" },
    tmpfs: { type: "boolean", default: false },
  },
});
const times = Number(values.times);
const random = new Random(Number(values.seed));
const file = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const main = file("dist/cli/main.js");
const PAGE = 4096; // bytes; a file of a tmpfs takes whole ones
const NOBODY = 65534; // root may write anywhere, so it becomes somebody else

/** PGN without what the clock says: dates, durations, comments with times. */
const untimed = (bytes) => Buffer.from(String(bytes).replace(/^\[(Date|UTC\w+|GameDuration|GameStartTime|GameEndTime) .*\n/gm, "").replace(/ ?\d+(\.\d+)?s(?=[,}])/g, "")); // biome-ignore format: one thought

// Small, so that fifty kills of each take minutes: what can be lost does not depend on the size.
const RUN = ["--set", "epochs=3", "epochPositions=2000", "batchSize=64", "threads=1"];
const GAMES = ["--games", "4", "--nodes", "100", "--max-moves", "20"];
const LEARN = `search: mcts
generations: 2
train: { family: residual, size: tiny, width: 8, blocks: 1, batchSize: 32, learningRate: 0.005, threads: 1 }
selfplay: { games: 3, nodes: 4, adjudication: { maxMoves: 8 } }
replay: { minimum: 10 }
match: { nodes: 1, adjudication: { maxMoves: 8 } }
gate: { games: 2 }
ladder: { games: 2, players: [random] }
`;
/** What is run, what it writes, and how it is run again. */
const JOBS = {
  "data import": { args: ["games.pgn", "-o", "out.bin", "--value", "eval"], out: ["out.bin"] },
  "data convert": { args: ["in.bin", "-o", "out.jsonl"], out: ["out.jsonl"] },
  "data shuffle": { args: ["in.bin", "-o", "out.bin"], out: ["out.bin"] },
  "data split": { args: ["in.bin", "-o", "out.bin", "--share", "0.2"], out: ["out.bin", "out.validation.bin"] },
  "data filter": { args: ["in.bin", "-o", "out.bin", "--ply", "4,400"], out: ["out.bin"] },
  "data dedupe": { args: ["in.bin", "-o", "out.bin"], out: ["out.bin"] },
  "data distil": { args: ["in.bin", "-o", "out.bin", "--net", file("nets/768x256.tnn")], out: ["out.bin"] },
  "data label": { args: ["few.jsonl", "-o", "out.bin", "--engine", "builtin@ab", "--nodes", "300"], out: ["out.bin"] },
  "data variations": { args: ["few.jsonl", "-o", "out.jsonl", "--player", "builtin@ab", "--nodes", "300"], out: ["out.jsonl"] }, // biome-ignore format: a row
  "data generate": { args: ["builtin@ab", "-o", "out.pgn", ...GAMES], out: ["out.pgn"], resume: ["--resume"], same: untimed }, // biome-ignore format: a row
  selfplay: { args: ["nnue@ab", "-o", "out.bin", ...GAMES], out: ["out.bin"] }, // biome-ignore format: a row
  train: { args: ["nnue-tiny", "--data", "in.bin", "--run", "out", ...RUN], out: ["out/epoch_003/model.safetensors"], begun: "out/config.json", again: ["train", "--resume", "--run", "out"] }, // biome-ignore format: a row
  learn: { args: ["learn.yaml", "--run", "out"], out: ["out/generations/002/network/model.safetensors"], begun: "out/state.json", again: ["learn", "--resume", "--run", "out"] }, // biome-ignore format: a row
  match: { args: ["nnue@ab", "builtin@ab", ...GAMES, "--pgn", "out.pgn"], out: ["out.pgn"], resume: ["--resume"], same: untimed }, // biome-ignore format: a row
  tournament: { args: ["nnue@ab", "builtin@ab", "random", "--rounds", "1", "--nodes", "100", "--max-moves", "20", "--pgn", "out.pgn"], out: ["out.pgn"], resume: ["--resume"], same: untimed }, // biome-ignore format: a row
  export: { args: [file("nets/768x256.tnn"), "out.raw"], out: ["out.raw"] },
  report: { args: ["run", "-o", "out.html"], out: ["out.html"], same: (bytes) => Buffer.from([bytes.length > 1000 ? 1 : 0]) }, // biome-ignore format: a row
};

const home = mkdtempSync(join(tmpdir(), "tabiya-faults-"));
chmodSync(home, 0o755);
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
const source = join(home, "inputs");
mkdirSync(source);

function must(...args) {
  const { status, stderr } = spawnSync(process.execPath, [main, ...args], { cwd: source, encoding: "utf8" });
  if (status !== 0) throw new Error(`tabiya ${args.join(" ")}: ${stderr}`);
}

/** Games, records of them, and a run. */
function prepare(jobs) {
  const games = String(gunzipSync(readFileSync(file("games/lichess.pgn.gz"))));
  writeFileSync(join(source, "games.pgn"), games.slice(0, games.indexOf("[Event ", 60_000)));
  must("data", "import", "games.pgn", "-o", "in.bin", "--value", "eval");
  must("data", "convert", "in.bin", "-o", "all.jsonl");
  const lines = readFileSync(join(source, "all.jsonl"), "utf8").split("\n");
  writeFileSync(join(source, "few.jsonl"), `${lines.slice(0, 60).join("\n")}\n`);
  writeFileSync(join(source, "learn.yaml"), LEARN);
  if (jobs.includes("report")) must("train", "nnue-tiny", "--data", "in.bin", "--run", "run", "--set", "epochs=1", "epochPositions=4096", "batchSize=256", "threads=1"); // biome-ignore format: a row
}

let folders = 0;
function freshFolder() {
  const folder = join(home, `work-${folders++}`);
  mkdirSync(folder);
  for (const name of readdirSync(source)) symlinkSync(join(source, name), join(folder, name));
  return folder;
}

/** Starts the command; `meanwhile` may do something to it. */
async function run(name, args, folder, { shell = "", meanwhile, ...options } = {}) {
  const line = [process.execPath, main, ...args];
  const [program, rest] = shell === "" ? [line[0], line.slice(1)] : ["bash", ["-c", `${shell}; exec "$@"`, "bash", ...line]]; // biome-ignore format: one thought
  const child = spawn(program, rest, { cwd: folder, stdio: ["ignore", "ignore", "pipe"], ...options });
  const start = performance.now();
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal })));
  await meanwhile?.(child, ended);
  const { code, signal } = await ended;
  return { name, code, signal, stderr, ms: performance.now() - start };
}

const argsOf = (name) => [...name.split(" "), ...JOBS[name].args];
const againOf = (name) => JOBS[name].again ?? [...argsOf(name), ...(JOBS[name].resume ?? [])];

/** What the command wrote, with what differs from run to run left out. */
const resultOf = (name, folder) =>
  JOBS[name].out.map((path) => {
    const found = join(folder, path);
    return existsSync(found) ? (JOBS[name].same ?? ((bytes) => bytes))(readFileSync(found)).toString("base64") : "none";
  });
const same = (a, b) => a.join() === b.join();

/** Files under temporary names, anywhere below. */
const litter = (folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".part"));

/** What a folder takes on a small disk, without the inputs, which are links. */
const pagesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { path, name }) => sum + Math.ceil(statSync(join(path, name)).size / PAGE), 0);

/** What is wrong with how a command ended that could not do its work. */
function badEnd({ code, signal, stderr }) {
  if (code !== 1) return `ended with ${code ?? signal}: ${stderr.slice(-300)}`;
  if (/bug in tabiya|^\s+at .*:\d+/m.test(stderr)) return `no clear message: ${stderr.slice(0, 300)}`;
  return stderr.trim() === "" ? "no message" : undefined;
}

/** Runs the command again and compares. */
async function recover(name, folder, reference) {
  // Before anything was begun there is nothing to resume.
  const { begun } = JOBS[name];
  const args = begun === undefined || existsSync(join(folder, begun)) ? againOf(name) : argsOf(name);
  const end = await run(name, args, folder);
  if (end.code !== 0) return `run again it ends with ${end.code ?? end.signal}: ${end.stderr.slice(-400)}`;
  if (!same(resultOf(name, folder), reference.result)) return "run again it writes something else";
  if (litter(folder).length > 0) return `run again it leaves ${litter(folder)}`;
  return undefined;
}

const OLD = Buffer.from("what was there before");

/** Commands that write one file may find one of that name. */
const replaces = (name) => JOBS[name].resume === undefined && JOBS[name].again === undefined;
function leaveOld(name, folder) {
  if (replaces(name)) for (const path of JOBS[name].out) writeFileSync(join(folder, path), OLD);
}
const oldIsThere = (name, folder) =>
  !replaces(name) || JOBS[name].out.every((path) => readFileSync(join(folder, path)).equals(OLD));

const FAULT = {
  async full(name, reference) {
    const folder = freshFolder();
    leaveOld(name, folder);
    const kilobytes = Math.max(1, Math.floor(reference.bytes / 2048));
    if (values.tmpfs) {
      const old = replaces(name) ? JOBS[name].out.length : 0; // pages that hold what was there
      const pages = Math.max(1, reference.pages >> 1) + old;
      spawnSync("mount", ["-t", "tmpfs", "-o", `size=${pages * PAGE}`, "tmpfs", folder]);
      for (const input of readdirSync(source)) symlinkSync(join(source, input), join(folder, input));
      leaveOld(name, folder);
    }
    const end = await run(name, argsOf(name), folder, values.tmpfs ? {} : { shell: `ulimit -f ${kilobytes}` });
    const bad = badEnd(end) ?? (oldIsThere(name, folder) ? undefined : "the output that was there is damaged") ?? (replaces(name) && litter(folder).length > 0 ? `leaves ${litter(folder)}` : undefined); // biome-ignore format: one thought
    if (values.tmpfs) spawnSync("mount", ["-o", "remount,size=64m", folder]);
    const result = bad ?? (await recover(name, folder, reference));
    if (values.tmpfs) spawnSync("umount", [folder]);
    return (
      result ?? `"${end.stderr.trim().split("\n").at(-1).replaceAll(folder, "").slice(0, 110)}"`.replace(/^/, "ok: ")
    );
  },

  async denied(name, reference) {
    const folder = freshFolder();
    leaveOld(name, folder);
    chmodSync(folder, 0o555);
    const who = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const end = await run(name, argsOf(name), folder, { ...who, env: { ...process.env, HOME: home } });
    chmodSync(folder, 0o755);
    const bad = badEnd(end) ?? (oldIsThere(name, folder) ? undefined : "the output that was there is damaged");
    const result = bad ?? (await recover(name, folder, reference));
    return result ?? `ok: "${end.stderr.trim().split("\n").at(-1).replaceAll(folder, "").slice(0, 110)}"`;
  },

  async kill(name, reference) {
    const after = [];
    for (let i = 0; i < times; i++) {
      const folder = freshFolder();
      leaveOld(name, folder);
      const end = await run(name, argsOf(name), folder, {
        meanwhile: async (child, ended) => {
          await Promise.race([sleep(reference.ms * (0.05 + 0.9 * random.next())), ended]);
          child.kill("SIGKILL");
        },
      });
      const stopped = end.signal === "SIGKILL";
      if (stopped && !oldIsThere(name, folder) && !same(resultOf(name, folder), reference.result))
        return `${end.ms.toFixed(0)} ms: the output that was there is damaged`;
      const bad = await recover(name, folder, reference);
      if (bad) return `killed after ${end.ms.toFixed(0)} ms: ${bad}`;
      after.push(stopped);
      rmSync(folder, { recursive: true });
    }
    return `ok: killed ${after.filter(Boolean).length} of ${times} times, each time the same in the end`;
  },

  async interrupt(name, reference) {
    let slowest = 0;
    let stopped = 0;
    for (let i = 0; i < times; i++) {
      const folder = freshFolder();
      leaveOld(name, folder);
      let asked = 0;
      const end = await run(name, argsOf(name), folder, {
        meanwhile: async (child, ended) => {
          await Promise.race([sleep(reference.ms * (0.2 + 0.6 * random.next())), ended]);
          asked = performance.now();
          child.kill("SIGINT");
          const late = sleep(60_000, "late", { ref: false });
          if ((await Promise.race([ended, late])) === "late") child.kill("SIGKILL");
          else asked = performance.now() - asked;
        },
      });
      if (end.code !== 0) {
        stopped++;
        slowest = Math.max(slowest, asked);
        if (end.code !== 130 && end.signal !== "SIGINT") return `ended with ${end.code ?? end.signal}: ${end.stderr.slice(-300)}`; // biome-ignore format: one thought
        if (asked > Number(values.patience) * 1000) return `took ${(asked / 1000).toFixed(1)} s to end`;
        if (!oldIsThere(name, folder)) return "the output that was there is damaged";
      }
      const bad = await recover(name, folder, reference);
      if (bad) return `interrupted after ${end.ms.toFixed(0)} ms: ${bad}`;
      rmSync(folder, { recursive: true });
    }
    return `ok: stopped ${stopped} of ${times} times, within ${slowest.toFixed(0)} ms`;
  },
};

const jobs = values.jobs ? values.jobs.split(",") : Object.keys(JOBS);
const faults = values.faults.split(",");
prepare(jobs);
console.log("| command | fault | outcome |\n|---|---|---|");
for (const name of jobs) {
  const folder = freshFolder();
  const whole = await run(name, argsOf(name), folder);
  const result = resultOf(name, folder);
  if (whole.code !== 0 || result.includes("none")) throw new Error(`${name} does not work undisturbed: ${whole.stderr} ${result.map((r) => r.length)} ${readdirSync(folder, { recursive: true })}`); // biome-ignore format: one thought
  const bytes = Math.max(...JOBS[name].out.map((path) => statSync(join(folder, path)).size));
  const reference = { ms: whole.ms, result, bytes, pages: pagesIn(folder) };
  rmSync(folder, { recursive: true });
  for (const fault of faults) {
    const outcome = await FAULT[fault](name, reference);
    if (!outcome.startsWith("ok")) process.exitCode = 1;
    console.log(`| ${name} | ${fault} | ${outcome.replaceAll("\n", " ").replaceAll("|", "/")} |`);
  }
}
