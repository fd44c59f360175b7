// Measures the built page in the system's Chromium, behind our own server, and says what it may cost:
//   node bench/page.mjs [--seconds 4] [--rounds 3] [--json]
// Sizes, first paint, layout shifts from the first paint through a move and an analysis (wide and narrow), the longest tasks
// while the analysis runs, and nodes/s of nnue@ab from the start position in the page and in Node, in turns.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { findProgram } from "#base";
import { parseFen, START_FEN } from "#chess";
import { resolvePlayer } from "#engine";
import { assetBytes, codeBytes, NETWORK } from "./page-files.mjs";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" }, // of each search
    rounds: { type: "string", default: "3" }, // page and Node in turns; the best of each counts
    json: { type: "boolean", default: false },
  },
});
const searchMs = Number(values.seconds) * 1000;
const rounds = Number(values.rounds);
const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

const executablePath = (await findProgram("chromium")) ?? (await findProgram("google-chrome"));
if (!executablePath) {
  console.error("bench/page.mjs needs chromium or google-chrome in the PATH.");
  process.exit(1);
}
const home = mkdtempSync(join(tmpdir(), "tabiya-page-"));
const server = spawn(process.execPath, [resolve("dist/cli/main.js"), "studio", "--no-open", "--port", "0"], {
  cwd: home,
  stdio: ["ignore", "pipe", "inherit"],
});
const [line] = await once(createInterface({ input: server.stdout }), "line");
const address = line.match(/http\S+/)[0];
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });

/** Runs in the page before anything else: keeps what the browser says of its own work. */
function observe() {
  window.seen = { paintMs: undefined, shift: 0, shifts: [], tasks: [] };
  const listen = (type, hear) =>
    new PerformanceObserver((list) => list.getEntries().forEach(hear)).observe({ type, buffered: true });
  listen("paint", ({ name, startTime }) => {
    if (name === "first-contentful-paint") window.seen.paintMs = startTime;
  });
  listen("layout-shift", ({ value, hadRecentInput, sources }) => {
    if (hadRecentInput) return;
    window.seen.shift += value;
    const node = sources?.[0]?.node;
    const element = node?.nodeType === Node.TEXT_NODE ? node.parentElement : node;
    window.seen.shifts.push(`${value.toFixed(4)} ${element?.outerHTML.slice(0, 80) ?? ""}`);
  });
  listen("longtask", ({ startTime, duration }) => window.seen.tasks.push({ startTime, duration }));
}

/** Load, one move and its answer, then an analysis for a while. */
async function visit(viewport) {
  const context = await browser.newContext({ viewport });
  const page = await context.newPage();
  await page.addInitScript(observe);
  await page.goto(address);
  await page.waitForSelector("cg-board piece");
  await page.getByLabel("Type a move").fill("e4");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll("ol[aria-label=Moves] button.move").length >= 2);
  await page.getByRole("tab", { name: "Lines" }).click();
  await page.waitForTimeout(700); // shifts within half a second of an input are its own
  const begun = await page.evaluate(() => performance.now());
  await page.getByRole("button", { name: "Analyse" }).click();
  await page.waitForTimeout(searchMs);
  const seen = await page.evaluate(() => window.seen);
  await context.close();
  const longest = (tasks) => Math.max(0, ...tasks.map(({ duration }) => duration));
  return {
    paintMs: Math.round(seen.paintMs),
    shift: Number(seen.shift.toFixed(4)),
    shifts: seen.shifts,
    longTaskLoadingMs: longest(seen.tasks.filter(({ startTime }) => startTime < begun)),
    longTaskSearchingMs: longest(seen.tasks.filter(({ startTime }) => startTime >= begun)),
  };
}

/** Runs in the page: nodes/s of one search in a worker of ours. */
function speedInWorker({ player, moveTimeMs, fen }) {
  return new Promise((resolve, reject) => {
    const worker = new Worker("web/page/minds/mind-worker.js", { type: "module" });
    const question = { fen, chess960: false, moves: [] };
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.onmessage = ({ data }) => {
      if (data.type === "ready") worker.postMessage({ type: "open", player });
      if (data.type === "opened")
        worker.postMessage({ type: "choose", id: 1, question, wish: { moveTimeMs, depth: 100 } });
      if (data.type === "chosen") {
        worker.terminate();
        resolve((data.thought.nodes / data.thought.timeMs) * 1000);
      }
      if (data.type === "refused" || data.type === "failed") reject(new Error(data.message));
    };
  });
}

async function speedInPage(page, threads) {
  const player = `${new URL(NETWORK, address).href}@ab?threads=${threads}`;
  return page.evaluate(speedInWorker, { player, moveTimeMs: searchMs, fen: START_FEN });
}

async function speedInNode(threads) {
  const player = await resolvePlayer(`${NETWORK}@ab?threads=${threads}`);
  const { nodes, timeMs } = await player.choose(parseFen(START_FEN), { moveTimeMs: searchMs, depth: 100 });
  await player.close();
  return (nodes / timeMs) * 1000;
}

async function speeds(threads) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${address.split("#")[0]}#/networks`); // a view in which nobody thinks
  await page.waitForSelector("main h1");
  const found = { page: 0, node: 0 };
  for (let round = 0; round < rounds; round++) {
    found.page = Math.max(found.page, await speedInPage(page, threads));
    found.node = Math.max(found.node, await speedInNode(threads));
  }
  const isolated = await page.evaluate(() => crossOriginIsolated);
  await context.close();
  return {
    threads,
    isolated,
    page: Math.round(found.page),
    node: Math.round(found.node),
    ratio: found.page / found.node,
  };
}

try {
  const views = {};
  for (const [size, viewport] of Object.entries(SIZES)) views[size] = await visit(viewport);
  const pairs = [];
  for (const threads of availableParallelism() > 1 ? [1, 2] : [1]) pairs.push(await speeds(threads));
  const result = { codeBytes: codeBytes(), ...assetBytes(), views, speeds: pairs };
  if (values.json) console.log(JSON.stringify(result));
  else print(result);
} finally {
  await browser.close();
  server.kill();
  rmSync(home, { recursive: true, force: true });
}
process.exit(0);

function print({ codeBytes: code, core, network, runtime, views, speeds: pairs }) {
  const kB = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;
  const rows = [
    ["page code, gzip", kB(code), "125 kB"],
    ["chess core, gzip", kB(core), "80 kB"],
    ["network of a first game, gzip", kB(network), "1200 kB"],
    ["ONNX Runtime, when asked for, gzip", kB(runtime), "3700 kB"],
    ...Object.entries(views).flatMap(([size, view]) => [
      [`first paint, ${size}`, `${view.paintMs} ms`, "1000 ms"],
      [`layout shift, ${size}`, String(view.shift), "0"],
      [`longest task before the search, ${size}`, `${Math.round(view.longTaskLoadingMs)} ms`, ""],
      [`longest task while it searches, ${size}`, `${Math.round(view.longTaskSearchingMs)} ms`, "200 ms"],
    ]),
    ...pairs.flatMap(({ threads, page, node, ratio }) => [
      [`nnue@ab nodes/s in the page, ${threads === 1 ? "1 thread" : `${threads} threads`}`, String(page), ""],
      ["  in Node", String(node), ""],
      ["  page to Node", `${Math.round(ratio * 100)} %`, threads === 1 ? "60 % at least" : ""],
    ]),
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column].length)));
  for (const [name, found, budget] of rows)
    console.log(`${name.padEnd(widths[0])}  ${found.padStart(widths[1])}  ${budget && `(budget ${budget})`}`.trimEnd());
  for (const [size, { shifts }] of Object.entries(views))
    for (const shift of shifts) console.log(`shift, ${size}: ${shift}`);
}
