// Training in rounds with 1, 2 and 4 workers, and with differences sent in fewer bits: loss on validation positions against
// positions seen and against traffic. All workers are of this program and wait for each other, so that a run can be repeated.
//   node bench/exchange.mjs games.bin games.validation.bin [settings, as epochs=5]
// Prints a table of docs/log/cluster.md. Needs `npm run build`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leadHere } from "#cluster";
import { parseSetting, resolveRecipe, taskOf, train } from "#training";

const [games, validation, ...changes] = process.argv.slice(2);
if (!validation) {
  console.error("usage: node bench/exchange.mjs games.bin games.validation.bin [key=value...]");
  process.exit(1);
}
const SETTINGS = {
  family: "residual", size: "tiny", batchSize: 128, epochs: 5, epochPositions: 12_800, learningRate: 0.004, warmupSteps: 50,
  roundSteps: 20, validationLimit: 4_000, threads: 1, ema: 0,
}; // biome-ignore format: a table
const RUNS = [
  { workers: 1, differences: "float32" },
  { workers: 2, differences: "float32" },
  { workers: 4, differences: "float32" },
  { workers: 4, differences: "float16" },
  { workers: 4, differences: "int8" },
  { workers: 1, differences: "float32", accumulate: 4, epochPositions: 4 }, // every step on what four workers would see
];

const home = mkdtempSync(join(tmpdir(), "tabiya-exchange-"));
console.log("| workers | differences | epoch | positions | loss | top-1 | MB |\n|---|---|---|---|---|---|---|");
try {
  for (const [i, { workers, epochPositions: times = 1, ...more }] of RUNS.entries()) {
    const settings = { ...SETTINGS, ...more, ...Object.assign({}, ...changes.map(parseSetting)) };
    const recipe = resolveRecipe({ ...settings, epochPositions: settings.epochPositions * times }, "bench");
    const task = taskOf(recipe.train.family);
    const data = await task.open([games], recipe);
    const judges = await task.open([validation], recipe);
    let bytes = 0;
    const onRound = ({ traffic: { put, got } }) => {
      bytes = put + got;
    };
    const name = times > 1 ? `${workers}, every step together` : workers;
    const onEpoch = ({ epoch, validation: { loss, policyTop1 } }) => {
      const seen = epoch * settings.epochPositions * workers * times;
      console.log(`| ${name} | ${settings.differences} | ${epoch} | ${seen} | ${loss.toFixed(4)} | ${(100 * policyTop1).toFixed(1)} % | ${(bytes / 1e6).toFixed(2)} |`); // biome-ignore format: a row
    };
    const run = join(home, String(i));
    const waitMs = 3_600_000;
    await leadHere({ id: run, recipe, paths: [games], data, workers, onRound, waitMs, pollMs: 20 }, (exchange) =>
      train(recipe, { run, data, validation: judges, exchange, onEpoch, now: Date.now }),
    );
    await data.close();
    await judges.close();
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
