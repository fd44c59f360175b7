// A run of the whole program, killed without warning: `tabiya train` from dist, so build first.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { formatFen, formatUci, parseFen, START_FEN } from "#chess";
import { resolvePlayer } from "#engine";
import { encodePacked } from "#formats";

const KILLS = Number(process.env.TABIYA_KILLS ?? 3);
const folder = mkdtempSync(join(tmpdir(), "tabiya-kill-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const data = join(folder, "games.bin");
const recipe = join(folder, "recipe.yaml");
writeFileSync(
  recipe,
  "size: tiny\nwidth: 8\nblocks: 1\nbatchSize: 16\nepochs: 4\nsaveSteps: 20\nema: 0.9\nthreads: 1\n",
);

const random = new Random(3);
const records = new Uint8Array(1000 * 40);
let position = parseFen(START_FEN);
for (let i = 0; i < 1000; i++) {
  if (position.outcome()) position = parseFen(START_FEN);
  const move = random.pick(position.moves());
  const record = { fen: formatFen(position), move: formatUci(position, move), score: random.below(800) - 400 };
  encodePacked({ ...record, ply: 1, result: 0 }, records.subarray(i * 40, i * 40 + 40));
  position.play(move);
}
writeFileSync(data, records);

/** Starts the program, ends it by `signal` after so many milliseconds of training, and returns how it ended. */
async function run(name: string, options: { signal?: NodeJS.Signals; afterMs?: number; recipe?: string } = {}) {
  const args = [
    "train",
    options.recipe ?? recipe,
    "--data",
    data,
    "--validation",
    data,
    "--run",
    join(folder, name),
    "--resume",
    "--json",
  ];
  const child = spawn(process.execPath, ["dist/cli/main.js", ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, errors] = ["", ""];
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => {
    errors += text;
    const { signal, afterMs } = options;
    if (signal && !timer && errors.includes("positions to learn"))
      timer = setTimeout(() => child.kill(signal), afterMs);
  });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  return { code, signal, out, errors };
}

const weights = (name: string) =>
  ["epoch_004", "best"].flatMap((checkpoint) =>
    ["model", "ema", "optimizer"].map((file) =>
      readFileSync(join(folder, name, checkpoint, `${file}.safetensors`)).toString("base64"),
    ),
  );

test(`killed ${KILLS} times without warning and resumed, a run ends with the weights of one never stopped`, async () => {
  const start = performance.now();
  const whole = await run("whole");
  assert.equal(whole.code, 0, whole.errors);
  const length = performance.now() - start;
  const { checkpoint, positionsPerSecond, waitingForData, metrics } = JSON.parse(whole.out);
  assert.ok(existsSync(join(checkpoint, "metadata.json")));
  assert.ok(positionsPerSecond > 0 && waitingForData >= 0 && metrics.policyTop1 > 0);

  let killed = 0;
  while (killed < KILLS) {
    const { signal, code, errors } = await run("killed", { signal: "SIGKILL", afterMs: random.below(length / 2) });
    assert.ok(signal === "SIGKILL" || (killed > 0 && code === 0), errors);
    killed++;
  }
  const last = await run("killed");
  assert.equal(last.code, 0, last.errors);
  assert.deepEqual(weights("killed"), weights("whole"));
  assert.deepEqual(
    readdirSync(join(folder, "killed")).filter((name) => /part|old|step_/.test(name)),
    [],
  );
});

test(`the same of a network of the nnue family on two threads`, async () => {
  const nnue = join(folder, "nnue.yaml");
  writeFileSync(
    nnue,
    "family: nnue\nsize: tiny\nbatchSize: 64\nquiet: false\nepochs: 4\nepochPositions: 40000\nsaveSteps: 20\nema: 0.9\nthreads: 2\n",
  );
  const start = performance.now();
  const whole = await run("nnue-whole", { recipe: nnue });
  assert.equal(whole.code, 0, whole.errors);
  const length = performance.now() - start;
  for (let killed = 0; killed < KILLS; killed++)
    await run("nnue-killed", { recipe: nnue, signal: "SIGKILL", afterMs: random.below(length / 2) });
  const last = await run("nnue-killed", { recipe: nnue });
  assert.equal(last.code, 0, last.errors);
  assert.deepEqual(weights("nnue-killed"), weights("nnue-whole"));
});

test("Ctrl-C ends the program with 130, the step saved", async () => {
  const { code, errors } = await run("interrupted", { signal: "SIGINT", afterMs: 400 });
  assert.equal(code, 130, errors);
  const [saved] = readdirSync(join(folder, "interrupted")).filter((name) => /^(step|epoch)_/.test(name));
  assert.ok(saved, errors);
  assert.match(errors, /Resume with/);
});

test("the folder of a run is enough to resume it, and its hint is a command that can be pasted", async () => {
  const { errors } = await run("pasted", { signal: "SIGINT", afterMs: 300 });
  const [, command] = /Resume with: tabiya (.*)/.exec(errors) ?? [];
  const { status, stderr } = spawnSync(process.execPath, ["dist/cli/main.js", ...command.split(" ")], {
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  assert.ok(existsSync(join(folder, "pasted/epoch_004")));
});

test("a checkpoint plays legal moves without a search, and tells what it thinks of the position", async () => {
  const player = await resolvePlayer(`${join(folder, "whole")}@none`);
  for (const fen of [START_FEN, "8/P6k/8/8/8/8/7K/8 w - - 0 1"]) {
    const board = parseFen(fen);
    const { move, lines } = await player.choose(board, { multiPv: 3 });
    assert.ok(board.moves().includes(move));
    assert.equal(lines.length, 3);
    assert.ok(Number.isInteger(lines[0].scoreCp));
    assert.equal(
      lines[0].wdl!.reduce((sum, share) => sum + share),
      1000,
    );
  }
  await player.close();
  await assert.rejects(resolvePlayer(`${folder}@none`), /no checkpoint in this folder/);
  await assert.rejects(resolvePlayer("nowhere/best@none"), /no file or run "nowhere\/best"/);
});

test("a shipped recipe, run quick from the games of the box, gives the same weights every time", {
  timeout: 300_000,
}, () => {
  const weights = ["quick-1", "quick-2"].map((name) => {
    const args = [
      "train",
      "recipes/nnue-base.yaml",
      "--quick",
      "--data",
      "games/lichess.pgn.gz",
      "--run",
      join(folder, name),
    ];
    const { status, stderr } = spawnSync(process.execPath, ["dist/cli/main.js", ...args, "--json"], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    return readFileSync(join(folder, name, "epoch_002/model.safetensors"));
  });
  assert.ok(weights[0].equals(weights[1]));
});
