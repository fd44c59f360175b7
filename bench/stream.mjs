// How much a training loses to people who watch it: its rate with no client on the studio's stream and with 200, in turns.
// Server, training and clients share this machine, as they do on a laptop.
//
//   node bench/stream.mjs [--clients 200] [--pairs 6] [--seconds 10] [--threads 1]
//
// Prints positions a second of each turn, and the median drop over the pairs. Nothing else should be running.
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

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
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

/** Positions a second of the training over the next seconds. */
async function rate() {
  await sleep(1000); // clients that came or went have settled
  const from = lines().at(-1);
  await sleep(seconds * 1000);
  const to = lines().at(-1);
  return ((to.step - from.step) * BATCH) / (to.time - from.time);
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
  const drops = [];
  for (let pair = 0; pair < pairs; pair++) {
    const alone = await rate();
    const requests = watch(studio);
    const before = events;
    const watched = await rate();
    const heard = (events - before) / (seconds + 1) / clients;
    for (const request of requests) request.destroy();
    drops.push(1 - watched / alone);
    console.log(
      `alone ${alone.toFixed(0)} positions/s, watched ${watched.toFixed(0)} (${(100 * drops.at(-1)).toFixed(1)} % less), ${heard.toFixed(1)} events/s a client`,
    );
  }
  console.log(`median drop ${(100 * median(drops)).toFixed(1)} %`);
  await ask("runs/bench/stop");
  await sleep(2000);
} finally {
  studio.child.kill();
  rmSync(folder, { recursive: true, force: true });
}
