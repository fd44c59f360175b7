// How much a training loses to people who watch it: its rate with no client on the studio's stream and with 200, in turns.
// Server, training and clients share this machine, as they do on a laptop.
//
//   node bench/stream.mjs [--clients 200] [--pairs 6] [--seconds 10] [--threads 1]
//
// Prints positions a second of each turn, and the median drop over the pairs; for those nothing else should be running. On Linux
// also the processor time of the training for each position, which other work on the machine hardly changes, and how much of a
// processor the server takes: together what the clients cost, wherever the training and the server run.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    clients: { type: "string", default: "200" },
    pairs: { type: "string", default: "6" },
    seconds: { type: "string", default: "10" },
    threads: { type: "string", default: "1" }, // of the training
  },
});
const [clients, pairs, seconds, threads] = ["clients", "pairs", "seconds", "threads"].map((name) =>
  Number(values[name]),
);
const root = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tabiya-stream-"));
const BATCH = 256;
const TICKS = 100; // a second, in /proc

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const said = ({ positionsPerSecond, microseconds }) =>
  `${positionsPerSecond.toFixed(0)} positions/s${Number.isFinite(microseconds) ? ` (${microseconds.toFixed(0)} us of processor each)` : ""}`;
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];

function startStudio() {
  const child = spawn(process.execPath, [root("dist/cli/main.js"), "studio", "--port", "0", "--no-open", "--data", root("games")], { cwd: folder }); // biome-ignore format: one line
  return new Promise((resolve, reject) => {
    child.stdout.on("data", (text) => {
      const found = /(http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)/.exec(String(text));
      if (found) resolve({ child, address: found[1], token: found[2] });
    });
    child.once("exit", () => reject(new Error("the studio did not start")));
  });
}

/** Steps and time of the lines that the training has written. */
const lines = () =>
  readFileSync(join(folder, "runs/bench/metrics.jsonl"), "utf8")
    .split("\n")
    .flatMap((line) => (line.endsWith("}") ? [JSON.parse(line)] : []))
    .filter(({ kind }) => kind === "train");

/** Seconds of processor time that a process has used so far; undefined where the system does not say. */
function processorSeconds(pid) {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  } catch {
    return undefined;
  }
}

/** The process that the server started, which trains; 0 where the system does not say. */
function trainingOf(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").at(-1));
  } catch {
    return 0;
  }
}

/** How the training went over the next seconds: positions a second, its processor time for each, and the server's share. */
async function turn() {
  await sleep(1000); // clients that came or went have settled
  const look = () => ({
    line: lines().at(-1),
    atMs: performance.now(),
    training: processorSeconds(trainer),
    server: processorSeconds(studio.child.pid),
  });
  const from = look();
  await sleep(seconds * 1000);
  const to = look();
  const positionsPerSecond = ((to.line.step - from.line.step) * BATCH) / (to.line.time - from.line.time);
  const elapsed = (to.atMs - from.atMs) / 1000;
  return {
    positionsPerSecond,
    microseconds: ((to.training - from.training) / elapsed / positionsPerSecond) * 1e6,
    share: (to.server - from.server) / elapsed,
  };
}

let events = 0;

function watch({ address, token }) {
  return Array.from({ length: clients }, () => {
    const request = get(`${address}/api/events?token=${token}`, { agent: false }, (response) => {
      response.on("data", (bytes) => {
        events += String(bytes).split("\ndata: ").length - 1;
      });
      response.on("error", () => {}); // we hang up
    });
    request.on("error", () => {});
    return request;
  });
}

const studio = await startStudio();
let trainer = 0;
try {
  const ask = async (path, body) => {
    const init = { method: "POST", headers: { Authorization: `Bearer ${studio.token}` }, body: JSON.stringify(body) };
    const response = await fetch(`${studio.address}/api/${path}`, init);
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  const list = await fetch(`${studio.address}/api/data`, { headers: { Authorization: `Bearer ${studio.token}` } });
  const { files } = await list.json();
  const { id } = files.find((file) => file.id.endsWith("lichess.pgn.gz"));
  const settings = {
    family: "residual",
    size: "tiny",
    data: [id],
    epochs: 1000,
    batchSize: BATCH,
    logSteps: 5,
    threads,
  };
  await ask("runs", { name: "bench", settings });
  for (let tries = 0; tries < 600; tries++) {
    try {
      if (lines().length > 4) break;
    } catch {} // the run is not there yet
    await sleep(200);
  }
  console.log(`${clients} clients, training on ${threads} thread${threads === 1 ? "" : "s"}, ${seconds} s a turn`);
  trainer = trainingOf(studio.child.pid);
  const [drops, rises, shares] = [[], [], []];
  for (let pair = 0; pair < pairs; pair++) {
    const alone = await turn();
    const requests = watch(studio);
    const before = events;
    const watched = await turn();
    const heard = (events - before) / (seconds + 1) / clients;
    for (const request of requests) request.destroy();
    drops.push(1 - watched.positionsPerSecond / alone.positionsPerSecond);
    rises.push(watched.microseconds / alone.microseconds - 1);
    shares.push(watched.share - alone.share);
    console.log(
      `alone ${said(alone)}, watched ${said(watched)}; ${percent(drops.at(-1))} less, ${heard.toFixed(1)} events/s a client`,
    );
  }
  console.log(`median drop of the rate ${percent(median(drops))}`);
  if (Number.isFinite(rises[0])) {
    console.log(`median rise of the training's processor time for a position ${percent(median(rises))}`);
    console.log(`median share of one processor that the clients cost the server ${percent(median(shares))}`);
  }
  await ask("runs/bench/stop");
  await sleep(2000);
} finally {
  studio.child.kill();
  rmSync(folder, { recursive: true, force: true });
}
