// The refinement loop and self-play of the whole program, killed without warning: `tabiya` from dist, so build first.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { processKey } from "#base";

const folder = mkdtempSync(join(tmpdir(), "tabiya-learn-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RECIPES = {
  nnue: `
search: ab
generations: 1
train: { family: nnue, size: tiny, batchSize: 64, learningRate: 0.002, threads: 1, saveSteps: 5 }
selfplay: { games: 8, nodes: 60, adjudication: { maxMoves: 20 } }
replay: { minimum: 1 }
match: { nodes: 60, adjudication: { maxMoves: 20 } }
gate: { games: 6 }
ladder: { games: 4, players: [random] }
`,
  residual: `
search: mcts?root=gumbel
generations: 1
train: { family: residual, size: tiny, width: 8, blocks: 1, batchSize: 32, learningRate: 0.005, threads: 1, saveSteps: 2 }
selfplay: { games: 8, nodes: 12, fullShare: 0.5, adjudication: { maxMoves: 15 } }
replay: { minimum: 1 }
match: { nodes: 8, adjudication: { maxMoves: 15 } }
gate: { games: 6 }
ladder: { games: 4, players: [random] }
`,
};

/** Runs the program; `killed` is asked every few milliseconds whether it is time to end it without warning. */
async function run(args: readonly string[], killed: () => boolean = () => false) {
  const child = spawn(process.execPath, ["dist/cli/main.js", ...args, "--json"], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, errors] = ["", ""];
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => (errors += text));
  const watch = setInterval(() => killed() && child.kill("SIGKILL"), 2);
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  clearInterval(watch);
  return { code, signal, out, errors };
}

interface State {
  best?: number;
  generations: { phase: string; seconds?: object; gate?: object; ladder?: object; promoted?: boolean }[];
}

function readState(name: string): State | undefined {
  const path = join(folder, name, "state.json");
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as State) : undefined;
}

/** Everything a run came to but the time it took, and without its matches if they may differ. */
function outcome(name: string, { games, sameMatches }: { games: string; sameMatches: boolean }) {
  const state = readState(name);
  if (!sameMatches) delete state?.best;
  for (const generation of state?.generations ?? []) {
    delete generation.seconds;
    if (sameMatches) continue;
    assert.ok(generation.gate && generation.ladder);
    for (const key of ["gate", "ladder", "promoted"] as const) delete generation[key];
  }
  const read = (path: string) => readFileSync(join(folder, name, "generations", path)).toString("base64");
  return [state, read("000/network/model.safetensors"), read("001/network/model.safetensors"), read(`001/${games}`)];
}

// What the evaluator remembers of earlier games decides when a leaf is backed up: matches of trees are not repeated exactly.
test.each([
  ["nnue", { games: "games.bin", sameMatches: true }],
  ["residual", { games: "games.jsonl", sameMatches: false }],
] as const)(
  "killed in every phase and resumed, a %s run ends as one that was never stopped",
  async (family, compared) => {
    const recipe = join(folder, `${family}.yaml`);
    writeFileSync(recipe, RECIPES[family]);
    const whole = await run(["learn", recipe, "--run", join(folder, `${family}-whole`)]);
    assert.equal(whole.code, 0, whole.errors);
    const { generations } = JSON.parse(whole.out);
    assert.equal(generations.length, 1);
    assert.ok(generations[0].games === 8 && generations[0].positions > 0 && generations[0].loss > 0);

    const name = `${family}-killed`;
    const args = ["learn", recipe, "--run", join(folder, name), "--resume"];
    let kills = 0;
    for (const phase of ["selfplay", "train", "gate", "ladder"]) {
      // Some time after the phase began, so that it is broken off in the middle.
      let since: number | undefined;
      const { signal } = await run(args, () => {
        if (since === undefined && readState(name)?.generations[0]?.phase === phase) since = performance.now();
        return since !== undefined && performance.now() - since > 15;
      });
      if (signal === "SIGKILL") kills++;
    }
    assert.ok(kills >= 3, `killed ${kills} times`); // a fast machine may be done with the last phase
    const last = await run(args);
    assert.equal(last.code, 0, last.errors);
    assert.deepEqual(outcome(name, compared), outcome(`${family}-whole`, compared));
  },
  300_000,
);

test("self-play that is killed again and again writes the bytes of one that was never stopped", async () => {
  const play = (out: string) => ["selfplay", "uniform@mcts", "-o", join(folder, out), "--games", "40", "--nodes", "16", "--max-moves", "20"]; // biome-ignore format: a list
  const whole = await run(play("whole.jsonl"));
  assert.equal(whole.code, 0, whole.errors);
  const journal = join(folder, "killed.jsonl.games");
  const lines = () => (existsSync(journal) ? readFileSync(journal, "utf8").split("\n").length : 0);
  for (const enough of [3, 9]) {
    const { signal } = await run(play("killed.jsonl"), () => lines() > enough);
    assert.equal(signal, "SIGKILL");
  }
  const last = await run(play("killed.jsonl"));
  assert.equal(last.code, 0, last.errors);
  assert.ok(/(\d+) games were played before/.test(last.errors));
  const text = (name: string) => readFileSync(join(folder, name), "utf8");
  assert.equal(text("killed.jsonl"), text("whole.jsonl"));
  const { seconds: _, ...counts } = JSON.parse(last.out);
  const { seconds: __, ...expected } = JSON.parse(whole.out);
  assert.deepEqual(counts, expected);
}, 240_000);

test("the table of a run is shown without a recipe, and a run is not begun twice", async () => {
  const run1 = join(folder, "nnue-whole");
  const shown = await run(["learn", "--run", run1]);
  assert.equal(JSON.parse(shown.out).generations.length, 1);
  const again = await run(["learn", join(folder, "nnue.yaml"), "--run", run1]);
  assert.equal(again.code, 1);
  assert.match(again.errors, /holds a run already.*\n.*--resume/);
  const none = await run(["learn", "--run", join(folder, "none")]);
  assert.match(none.errors, /holds no run/);
});

test("a run that another process works on is refused, and nothing of it is touched", async () => {
  const held = join(folder, "nnue-whole");
  const before = readFileSync(join(held, "state.json"));
  writeFileSync(join(held, "lock"), processKey());
  const { code, errors } = await run(["learn", "--run", held, "--resume", "--generations", "2"]);
  assert.equal(code, 1);
  assert.match(errors, new RegExp(`process ${process.pid} is at work in this folder`));
  assert.deepEqual(readFileSync(join(held, "state.json")), before);
});
