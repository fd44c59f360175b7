import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import compare from "./compare.js";
import report from "./report.js";
import sweep, { combine, parseAxis, summarise } from "./sweep.js";
import { randomRecords, runLine } from "./testing.js";
import train from "./train.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-runs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const [data, unseen, out] = ["games.bin", "unseen.bin", "sweep"].map((name) => join(folder, name));
writeFileSync(data, randomRecords(600));
writeFileSync(unseen, randomRecords(200, { seed: 4 }));

const SETTINGS = ["batchSize=64", "epochs=2", "threads=1", "quiet=false", "logSteps=2"];
const sweepLine = (...more: string[]) =>
  runLine(sweep, "nnue-tiny", "--data", data, "--validation", unseen, "--seeds", "2", "--out", out, "--set", "learningRate=0.001,0.1", ...SETTINGS, ...more); // biome-ignore format: a command line
let first: Awaited<ReturnType<typeof sweepLine>>;
beforeAll(async () => {
  first = await sweepLine("--json");
});

test("a sweep trains every combination with every seed, each a run of its own, and averages over seeds", () => {
  assert.equal(first.code, 0, first.stderr);
  const { runs, rows } = JSON.parse(first.stdout);
  assert.deepEqual(
    runs.map(({ run }: { run: string }) => run.slice(out.length + 1)),
    ["0.001,seed=1", "0.001,seed=2", "0.1,seed=1", "0.1,seed=2"].map((name) => `learningRate=${name}`),
  );
  for (const { run } of runs) assert.ok(existsSync(join(run, "best/model.safetensors")));
  assert.equal(rows.length, 2);
  assert.ok(rows[0].mean.loss < rows[1].mean.loss, "the best comes first");
  const losses = runs.filter(({ chosen }: { chosen: object }) => JSON.stringify(chosen) === JSON.stringify(rows[0].chosen)).map(({ measured }: { measured: { loss: number } }) => measured.loss); // biome-ignore format: one thing
  assert.ok(Math.abs(rows[0].mean.loss - (losses[0] + losses[1]) / 2) < 1e-12);
});

test("the same sweep again trains nothing and prints the table; one with another recipe is refused", async () => {
  const weights = join(out, "learningRate=0.1,seed=2/best/model.safetensors");
  const before = statSync(weights).mtimeMs;
  const { code, stdout, stderr } = await sweepLine();
  assert.equal(code, 0, stderr);
  assert.equal(statSync(weights).mtimeMs, before);
  assert.equal(stderr.match(/finished before/g)?.length, 4);
  assert.match(stdout, /^learningRate +runs +loss +valueMae/m);
  assert.match(stdout, /^0\.1 +2 +[\d.e-]+ \+- [\d.e-]+/m);
  const changed = await sweepLine("clip=0", "scoreScale=500");
  assert.equal(changed.code, 1);
  assert.match(changed.stderr, /scoreScale was 400, is 500 now/);
});

test("runs stand side by side: only what differs, results with the best marked, curves", async () => {
  const { code, stdout, stderr } = await runLine(compare, out);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^learningRate +0\.001 +0\.001 +0\.1 +0\.1$/m);
  assert.doesNotMatch(stdout, /^batchSize/m);
  assert.equal(
    stdout
      .split("\n")
      .find((line) => line.startsWith("validation loss"))
      ?.match(/\*/g)?.length,
    1,
  );
  assert.match(stdout, /^ {2}learningRate=0\.1,seed=2 +[▁-█ ]*[▁-█]$/m);
  assert.match(stdout, /settings are the same in all/);
  const all = await runLine(compare, out, "--all");
  assert.match(all.stdout, /^batchSize +64 +64 +64 +64$/m);
  const wrong = await runLine(compare, folder, "--metric", "elo");
  assert.equal(wrong.code, 1);
});

test("a report is one page that asks for nothing, with curves, settings, calibration and boards", async () => {
  const file = join(folder, "report.html");
  const run = join(out, "learningRate=0.1,seed=1");
  const made = await runLine(report, run, "-o", file, "--positions", "100", "--title", "A <b> & c");
  assert.equal(made.code, 0, made.stderr);
  const page = readFileSync(file, "utf8");
  assert.match(page, /<h1>A &#60;b&#62; &#38; c<\/h1>/);
  assert.doesNotMatch(page, /<script|<link|<img|@import|url\(|https?:/);
  assert.ok((page.match(/class="chart"/g)?.length ?? 0) >= 4);
  assert.ok((page.match(/class="board"/g)?.length ?? 0) >= 12);
  assert.match(page, /mean error of calibration/);
  assert.match(page, /learningRate<\/th><td>0\.1</);
});

test("a report of a run whose data is gone says so and has the rest", async () => {
  const file = join(folder, "gone.html");
  rmSync(unseen);
  const { code, stderr } = await runLine(report, join(out, "learningRate=0.001,seed=1"), "-o", file);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /not evaluated: .*no such file/);
  assert.match(readFileSync(file, "utf8"), /Not evaluated: .*unseen\.bin/);
  assert.equal((await runLine(report, join(folder, "nowhere"), "-o", file)).code, 1);
});

test("scores that are all 0 are warned of before the training, unless it learns from results", async () => {
  const empty = join(folder, "empty.bin");
  writeFileSync(empty, randomRecords(200, { score: () => 0 }));
  const line = (share: number, name: string) =>
    runLine(
      train,
      "nnue-tiny",
      "--data",
      empty,
      "--run",
      join(folder, name),
      "--set",
      `resultShare=${share}`,
      ...SETTINGS,
    );
  const scores = await line(0, "scores");
  assert.match(scores.stderr, /empty\.bin: Every score is 0: .* set resultShare to 1.*positions to learn/s);
  assert.match(scores.stderr, /[\d,]+ parameters, 2112 multiply-adds a position/);
  const results = await line(1, "results");
  assert.doesNotMatch(results.stderr, /Every score is 0/);
  assert.match(results.stderr, /Every result is a draw/);
});

test("values of a setting are separated by commas, but for those in brackets and quotes", () => {
  const texts = (text: string) => parseAxis(text).values.map(({ value }) => value);
  assert.deepEqual(texts("learningRate=0.001,0.002"), [0.001, 0.002]);
  assert.deepEqual(texts("kingBuckets=[],[0, 1]"), [[], [0, 1]]);
  assert.deepEqual(texts("start=a.safetensors,"), ["a.safetensors"]);
  assert.equal(combine([parseAxis("a=1,2"), parseAxis("b=x,y,z")]).length, 6);
});

test("a run that failed is counted and left out of the means", () => {
  const outcome = { name: "", run: "", chosen: { clip: "1" }, message: "" };
  const [row] = summarise([
    { ...outcome, seed: 1, state: "finished", measured: { loss: 2 } },
    { ...outcome, seed: 2, state: "failed", measured: { loss: 9 } },
  ]);
  assert.deepEqual([row.runs, row.failed, row.mean.loss, row.deviation.loss], [1, 1, 2, null]);
});
