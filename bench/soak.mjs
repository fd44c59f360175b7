// Trains, plays and serves at once for a long time, and watches the memory of every process:
//   node bench/soak.mjs [--minutes 60] [--folder DIR]
// A studio with clients that poll it, come and go; two trainings (NNUE and a residual network), a match that does not end,
// and every five minutes a short match and a training that is stopped and resumed. A line a minute, then a verdict: flat
// if no process would grow by more than a tenth, or 16 MB, in an hour. Exit code 1 if one does, or if something ended that
// should not have. Needs `npm run build`.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "60" }, folder: { type: "string" } } });
const minutes = Number(values.minutes);
const folder = values.folder ?? mkdtempSync(join(tmpdir(), "tabiya-soak-"));
const file = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const main = file("dist/cli/main.js");

const WARM_UP = 0.25; // of the time: caches fill and the compiler is busy
const ALLOWED = { share: 0.1, bytes: 16e6 }; // in an hour

const TRAININGS = {
  nnue: { family: "nnue", size: "tiny", batchSize: 512, epochPositions: 50_000, threads: 1 },
  residual: { family: "residual", size: "tiny", batchSize: 32, epochPositions: 2_000, threads: 1 },
};
const MATCH = { kind: "match", players: ["nnue@ab", "builtin@ab"], limits: { nodes: 200 }, games: 1_000_000 };
const SHORT = { ...MATCH, games: 10 };

function tabiya(...args) {
  const { status, stderr } = spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

async function startStudio() {
  const child = spawn(process.execPath, [main, "studio", "--port", "0", "--no-open"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const text of child.stdout) {
    const found = /(http:\S+)\/#token=(\S+)/.exec(String(text));
    if (found) return { child, base: found[1], token: found[2] };
  }
  throw new Error("the studio did not start");
}

tabiya("data", "import", file("games/lichess.pgn.gz"), "-o", "games.bin", "--value", "eval");
const { child: studio, base, token } = await startStudio();
const troubles = [];
let requests = 0;

async function api(path, body) {
  const response = await fetch(`${base}/api/${path}`, {
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  requests++;
  const answer = JSON.parse((await response.text()) || "{}");
  if (!response.ok) troubles.push(`${path}: ${response.status} ${answer.error?.message}`);
  return answer;
}

const train = (name, kind) => api("runs", { name, settings: { ...TRAININGS[kind], epochs: 1_000_000, data: ["games.bin"] } }); // biome-ignore format: one thought
const play = (name, spec) => api("contests", { name, spec });

let over = false;
const end = Date.now() + minutes * 60_000;
process.once("SIGINT", () => {
  over = true;
});

/** A client as the page is one: it listens to events and asks for what changed. */
async function visit() {
  while (!over) {
    const leave = AbortSignal.timeout(5_000 + Math.floor(Math.random() * 60_000));
    const stream = await fetch(`${base}/api/events?token=${token}`, { signal: leave });
    const listen = (async () => {
      for await (const _ of stream.body) requests++;
    })().catch(() => {});
    const seen = {}; // bytes of each run's metrics
    while (!leave.aborted && !over) {
      const { runs } = await api("runs");
      for (const { id } of runs) seen[id] = (await api(`runs/${id}/metrics?from=${seen[id] ?? 0}`)).to;
      await api("contests");
      await api("contests/long/games");
      await sleep(500);
    }
    await listen;
  }
}

/** What comes and goes: a short match, and a training that is stopped and resumed. */
async function stir() {
  for (let turn = 1; !over; turn++) {
    await play(`short-${turn}`, SHORT);
    await sleep(60_000);
    if (over) return;
    await api("runs/passing/stop", {});
    await sleep(20_000);
    if (over) return;
    await api("runs/passing/resume", {});
    await sleep(220_000);
  }
}

/** Resident bytes of our processes, by what they do. */
function measure() {
  const { stdout } = spawnSync("ps", ["-eo", "pid=,rss=,args="], { encoding: "utf8", maxBuffer: 1 << 24 });
  const found = {};
  for (const line of stdout.split("\n")) {
    const [, pid, kilobytes, args] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (Number(pid) === studio.pid) found.studio = kilobytes * 1024;
    else if (args?.includes(main)) {
      const name = /runs\/(nnue|residual) /.exec(`${args} `)?.[1] ?? (args.includes("long.pgn") ? "match" : undefined);
      if (name) found[name] = kilobytes * 1024;
    }
  }
  return found;
}

/** Bytes an hour, by least squares. */
function slope(samples) {
  const mean = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;
  const [t, y] = [mean(samples.map(({ hours }) => hours)), mean(samples.map(({ bytes }) => bytes))];
  const up = samples.reduce((sum, { hours, bytes }) => sum + (hours - t) * (bytes - y), 0);
  return { mean: y, perHour: up / samples.reduce((sum, { hours }) => sum + (hours - t) ** 2, 0) };
}

await train("nnue", "nnue");
await train("residual", "residual");
await train("passing", "nnue");
await play("long", MATCH);
const work = [visit(), visit(), stir()].map((job) => job.catch((error) => troubles.push(String(error.stack))));

const NAMES = ["studio", "nnue", "residual", "match"];
const megabytes = (bytes) => (bytes === undefined ? "-" : (bytes / 1e6).toFixed(1));
const samples = Object.fromEntries(NAMES.map((name) => [name, []]));
const start = Date.now();
console.log(["minute", ...NAMES.map((name) => `${name} MB`), "requests"].join("\t"));
while (!over) {
  await sleep(Math.min(60_000, Math.max(0, end - Date.now())));
  const hours = (Date.now() - start) / 3_600_000;
  const found = measure();
  for (const name of NAMES) {
    if (found[name] === undefined) troubles.push(`${name} is gone after ${Math.round(hours * 60)} minutes`);
    else samples[name].push({ hours, bytes: found[name] });
  }
  console.log([Math.round(hours * 60), ...NAMES.map((name) => megabytes(found[name])), requests].join("\t"));
  over ||= Date.now() >= end;
}

let flat = true;
for (const name of NAMES) {
  const { mean, perHour } = slope(samples[name].slice(Math.floor(samples[name].length * WARM_UP)));
  const grows = perHour > Math.max(ALLOWED.bytes, ALLOWED.share * mean);
  if (grows) flat = false;
  console.log(`${name}: ${megabytes(mean)} MB, ${megabytes(perHour)} MB an hour: ${grows ? "grows" : "flat"}`);
}
for (const id of ["nnue", "residual", "passing"]) await api(`runs/${id}/stop`, {});
await api("contests/long/stop", {});
await Promise.race([Promise.all(work), sleep(5_000)]);
studio.kill("SIGINT");
for (const trouble of [...new Set(troubles)].slice(0, 20)) console.log(`trouble: ${trouble}`);
console.log(flat && troubles.length === 0 ? "memory is flat" : "not as it should be");
process.exit(flat && troubles.length === 0 ? 0 : 1);
