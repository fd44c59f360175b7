import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { Random, UserError } from "#base";
import { formatFen, parseFen } from "#chess";
import { encodePacked } from "#formats";
import { NNUE_SIZES, Nnue } from "#models";
import { Batches } from "../batches/batches.js";
import { train } from "../loop.js";
import { resolveRecipe } from "../recipe.js";
import { NNUE_ROWS } from "./record-rows.js";
import { NNUE_VALUE } from "./task.js";
import { packSamples, randomSamples } from "./testing.js";
import { NnueTrainer } from "./trainer.js";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "tabiya-nnue-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const open = (...sources: string[]) => Batches.open({ sources, format: NNUE_ROWS, seed: 1 });

const write = (path: string, records: Uint8Array) => {
  writeFileSync(path, records);
  return path;
};

test("a run interrupted and resumed ends with the weights of one never stopped", async () => {
  const path = folder();
  const data = write(join(path, "a.bin"), packSamples(randomSamples(400, 1)));
  const more = write(join(path, "b.bin"), packSamples(randomSamples(300, 2)));
  const recipe = resolveRecipe(
    { family: "nnue", size: "tiny", epochs: 3, batchSize: 64, saveSteps: 4, ema: 0.9, quiet: false, threads: 2 },
    "test",
  );
  const run = async (name: string, stopAt?: number) => {
    const source = await open(data, more);
    const validation = await open(more);
    const stop = new AbortController();
    const result = await train(recipe, {
      run: join(path, name),
      data: source,
      validation,
      resume: true,
      signal: stop.signal,
      now: () => 0,
      onProgress: ({ step }) => step === stopAt && stop.abort(),
    });
    await source.close();
    await validation.close();
    return result;
  };
  const whole = await run("whole");
  assert.equal(whole.stopped, "finished");
  assert.equal(whole.steps, 30);
  assert.equal((await run("broken", 7)).stopped, "interrupted");
  assert.equal((await run("broken", 23)).stopped, "interrupted");
  assert.equal((await run("broken")).stopped, "finished");
  for (const file of ["model", "ema", "optimizer"]) {
    const bytes = (name: string) => readFileSync(join(path, name, "epoch_003", `${file}.safetensors`));
    assert.ok(bytes("broken").equals(bytes("whole")), file);
  }
});

test("every record comes once an epoch, whatever the number of files, and goes on where a run stopped", async () => {
  const path = folder();
  const [first, second] = [randomSamples(130, 3), randomSamples(62, 4)].map(packSamples);
  const paths = [write(join(path, "a.bin"), first), write(join(path, "b.bin"), second)];
  const source = await open(...paths);
  onTestFinished(() => source.close());
  const rows = (records: Uint8Array) =>
    Array.from({ length: records.length / 40 }, (_, i) =>
      Buffer.from(records.subarray(i * 40, i * 40 + 40)).toString("hex"),
    );
  const read = async (options: Parameters<typeof source.batches>[0]) => {
    const batches: string[][] = [];
    for await (const { records } of source.batches(options)) batches.push(rows(records));
    return batches;
  };
  const sorted = (batches: string[][]) => batches.flat().sort();
  const all = [...rows(first), ...rows(second)].sort();
  const epoch = await read({ size: 16, epoch: 1 });
  assert.equal(epoch.length, 12);
  assert.deepEqual(sorted(epoch), all);
  assert.notDeepEqual(sorted(epoch.slice(0, 3)), sorted((await read({ size: 16, epoch: 2 })).slice(0, 3)));
  assert.deepEqual(await read({ size: 16, epoch: 1, from: 5 }), epoch.slice(5));
  assert.deepEqual((await read({ size: 50 })).flat(), [...rows(first), ...rows(second)]);
  const weighted = await open(`${paths[0]}?weight=1`, `${paths[1]}?weight=3`);
  onTestFinished(() => weighted.close());
  const seconds = new Set(rows(second));
  for await (const { records } of weighted.batches({ size: 64, epoch: 0 }))
    assert.equal(rows(records).filter((row) => seconds.has(row)).length, 48);
});

test("quiet leaves out checks, captures and promotions; scoreLimit leaves out large scores", async () => {
  const lines: [string, string, number][] = [
    ["4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4", 10],
    ["4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", 20], // takes
    ["4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", "e1d1", 30], // in check
    ["4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", 40], // promotes
    ["4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 50], // takes en passant
    ["4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", 60], // castling is written as taking one's own rook
    ["4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", "e8e7", -900],
  ];
  const records = new Uint8Array(lines.length * 40);
  lines.forEach(([fen, move, score], i) => {
    const record = { fen: formatFen(parseFen(fen)), move, score, ply: 1, result: 0 };
    encodePacked(record, records.subarray(i * 40, i * 40 + 40));
  });
  const network = new Nnue(NNUE_SIZES.tiny, new Random(1));
  const scores = async (quiet: boolean, scoreLimit: number) => {
    const target = { scoreScale: 400, resultShare: 0, quiet, scoreLimit };
    const trainer = await NnueTrainer.open(network, { batchSize: 16, threads: 1, target });
    try {
      return [...(await trainer.predict({ records })).scores];
    } finally {
      await trainer.close();
    }
  };
  assert.deepEqual(await scores(false, 32_000), [10, 20, 30, 40, 50, 60, -900]);
  assert.deepEqual(await scores(true, 32_000), [10, 60, -900]);
  assert.deepEqual(await scores(true, 500), [10, 60]);
});

test("a bad record is named by its file and number", async () => {
  const records = packSamples(randomSamples(30, 6));
  records.fill(255, 11 * 40, 11 * 40 + 32);
  const path = write(join(folder(), "bad.bin"), records);
  const source = await open(path);
  onTestFinished(() => source.close());
  const network = new Nnue(NNUE_SIZES.tiny, new Random(1));
  const recipe = resolveRecipe({ family: "nnue", size: "tiny" }, "test");
  const judged = NNUE_VALUE.judge(network, source, recipe, { batchSize: 16, threads: 1 });
  await assert.rejects(judged, (error) => error instanceof UserError && /bad\.bin: record 11/.test(error.message));
});
