import { basename } from "node:path";
import { messageOf, UserError } from "#base";
import { openSets } from "#data";
import {
  type Measured,
  parseRecipe,
  parseSetting,
  type Recipe,
  RunFolder,
  resolveRecipe,
  resultShareOf,
  settingsOf,
} from "#training";
import { compareConfigs, formatValue } from "#web";
import { command } from "./command.js";
import { readRecipe } from "./recipe-files.js";
import { formatTable } from "./table.js";
import { quoted, trainWithProgress } from "./training.js";

type Values = Record<string, unknown>;

/** A setting to be tried with several values. */
interface Axis {
  key: string;
  values: { text: string; value: unknown }[]; // as they were typed, and as they were read
}

/** `learningRate=0.001,0.002` -> a setting with two values; commas within brackets or quotes separate nothing. */
export function parseAxis(text: string): Axis {
  const equals = text.indexOf("=");
  const [key] = Object.keys(parseSetting(equals < 0 ? text : `${text.slice(0, equals)}=0`));
  const typed = text.slice(equals + 1).match(/(?:"[^"]*"|'[^']*'|\[[^\]]*\]|[^,])+/g) ?? [""];
  return { key, values: typed.map((each) => ({ text: each.trim(), value: parseSetting(`${key}=${each}`)[key] })) };
}

/** One training of a sweep. */
interface Trial {
  name: string; // of its folder
  chosen: Record<string, string>; // what differs, as it was typed, but for the seed
  seed: number;
  recipe: Recipe;
}

/** Every combination of the settings' values, each with every seed. */
export function combine(axes: readonly Axis[]): Record<string, { text: string; value: unknown }>[] {
  let found: Record<string, { text: string; value: unknown }>[] = [{}];
  for (const { key, values } of axes) found = found.flatMap((one) => values.map((value) => ({ ...one, [key]: value })));
  return found;
}

/** A folder's name that every system takes. */
const folderName = (chosen: Record<string, string>, seed: number): string =>
  [...Object.entries({ ...chosen, seed: String(seed) })]
    .map(([key, text]) => `${key}=${text.replace(/[^\w.+-]+/g, "_")}`)
    .join(",")
    .slice(0, 200);

interface Outcome extends Pick<Trial, "name" | "chosen" | "seed"> {
  run: string;
  state: "finished" | "failed" | "interrupted";
  message: string; // why it failed
  measured: Measured | null; // at its best epoch: on unseen games, or else on what it learnt from
}

/** What a run measured in its best epoch. */
async function measuredBy(run: RunFolder): Promise<Measured | null> {
  const lines = await run.metrics();
  const judged = lines.filter(({ kind }) => kind === "validation");
  const { values } = (judged.length > 0 ? judged : lines).reduce<(typeof lines)[number]>(
    (best, line) => (line.values.loss < best.values.loss ? line : best),
    (judged.length > 0 ? judged : lines)[0] ?? { values: null },
  );
  return values as Measured | null;
}

/** A run that is finished already, unless it was trained by other settings: that is the user's to decide. */
async function isDone(path: string, recipe: Recipe): Promise<boolean> {
  if (!(await RunFolder.isRun(path))) return false;
  const run = await RunFolder.open(path);
  const { saveSteps: _, saveEpochs: __, ...wanted } = { ...recipe.train, ...recipe.task, ...recipe.model };
  const changed = compareConfigs([settingsOf(await run.config()), wanted]).filter(({ isSame }) => !isSame);
  if (changed.length > 0) {
    const [{ key, values }] = changed;
    throw new UserError(
      "SWEEP_DIFFERS",
      `${path}: was trained with other settings: ${key} was ${values[0] ?? "missing"}, is ${values[1] ?? "missing"} now.\n` +
        "Keep the recipe and the data as they were to complete the sweep, or begin another with --out FOLDER.",
    );
  }
  return (await run.status()).state === "finished";
}

const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
/** Standard deviation of a sample. */
const deviation = (values: readonly number[]) =>
  Math.sqrt(values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - 1));

const COLUMNS = 5; // numbers shown; --json has all
const HOW = ["learningRate", "positionsPerSecond", "resultLoss"];

interface Row {
  chosen: Record<string, string>;
  runs: number; // that were finished
  failed: number;
  mean: Record<string, number>;
  deviation: Record<string, number | null>; // over the seeds; null for one
}

/** Combinations of settings with what their runs measured, averaged over seeds; the smallest loss first. */
export function summarise(outcomes: readonly Outcome[]): Row[] {
  const groups = new Map<string, Outcome[]>();
  for (const outcome of outcomes) {
    const key = JSON.stringify(outcome.chosen);
    groups.set(key, [...(groups.get(key) ?? []), outcome]);
  }
  const rows = [...groups.values()].map((group): Row => {
    const known = group.flatMap(({ state, measured }) => (state === "finished" && measured ? [measured] : []));
    const names = Object.keys(known[0] ?? {});
    const of = (name: string) => known.map((each) => each[name]);
    return {
      chosen: group[0].chosen,
      runs: known.length,
      failed: group.filter(({ state }) => state === "failed").length,
      mean: Object.fromEntries(names.map((name) => [name, mean(of(name))])),
      deviation: Object.fromEntries(names.map((name) => [name, known.length > 1 ? deviation(of(name)) : null])),
    };
  });
  return rows.sort((a, b) => (a.mean.loss ?? Number.POSITIVE_INFINITY) - (b.mean.loss ?? Number.POSITIVE_INFINITY));
}

function formatRows(rows: readonly Row[]): string[] {
  const keys = Object.keys(rows[0].chosen);
  const names = Object.keys(rows.find(({ runs }) => runs > 0)?.mean ?? {})
    .filter((name) => !HOW.includes(name))
    .slice(0, COLUMNS);
  const cells = rows.map(({ chosen, runs, failed, mean: means, deviation: deviations }) => [
    ...keys.map((key) => chosen[key]),
    `${runs}${failed > 0 ? `, ${failed} failed` : ""}`,
    ...names.map((name) => {
      if (means[name] === undefined) return "-";
      const spread = deviations[name];
      return `${formatValue(means[name])}${spread === null ? "" : ` +- ${formatValue(Number(spread.toPrecision(2)))}`}`;
    }),
  ]);
  return formatTable([[...keys, "runs", ...names], ...cells]);
}

export default command({
  name: "sweep",
  summary: "Train a recipe with every combination of some settings, each with several seeds, and compare them.",
  details:
    "Each training is a run of its own in the sweep's folder, which tabiya compare, report and eval understand. Stopped at\n" +
    "any moment, the same command goes on where it was; runs that are finished are not trained again, so it also prints\n" +
    "the table once more. The table has what was measured at the best epoch of each run, averaged over the seeds, with\n" +
    "standard deviations: a difference smaller than these means little.",
  examples: [
    "tabiya sweep nnue-tiny --data games.bin --validation games.validation.bin --set learningRate=0.001,0.002 --seeds 3",
    "tabiya sweep residual-tiny --data games.bin --validation unseen.bin --set width=16,32 blocks=2,4 epochs=2 --out runs/widths",
  ],
  arguments: { recipe: { help: "YAML file of settings, or the name of a recipe" } },
  options: {
    set: {
      type: "strings",
      help: "settings; several values with commas are tried in turn, as learningRate=0.001,0.002",
    },
    seeds: { type: "integer", default: 1, minimum: 1, help: "trainings of each combination, with seeds 1, 2, ..." },
    data: { type: "strings", help: "files to learn from, as in tabiya train" },
    validation: { type: "strings", help: "files of other games, to evaluate on" },
    out: { help: "folder for the runs (default: runs/ and the recipe's name and -sweep)" },
    quick: { type: "boolean", help: "use the recipe's quick settings" },
    limit: { type: "integer", minimum: 1, help: "train on the first N positions" },
  },

  async run({ recipe: file, set, seeds, data, validation, out, quick, limit }, io) {
    const values: Values = {
      ...parseRecipe(await readRecipe(file), file, { quick }),
      ...(data && { data }),
      ...(validation && { validation }),
      ...(limit && { limit }),
    };
    const axes = (set ?? []).map(parseAxis);
    if (axes.some(({ key }) => key === "seed"))
      throw new UserError("SWEEP_SEED", "The seeds of a sweep are given by their number: --seeds 3.");
    const folder = out ?? `runs/${basename(file).replace(/\.ya?ml$/, "")}-sweep`;

    // Games become records once, for all of the runs.
    const whole = resolveRecipe(values, file);
    const { train } = whole;
    const sets = { folder: `${folder}/data`, resultShare: resultShareOf(whole), ...io };
    if (train.data.length === 0)
      throw new UserError("DATA_NONE", `${file}: no data to learn from. Name it with --data FILE.`);
    values.data = await openSets(train.data, { ...sets, role: "learn" });
    values.validation = await openSets(train.validation, { ...sets, role: "judge" });

    const varied = new Set(axes.filter((axis) => axis.values.length > 1).map(({ key }) => key));
    const trials = combine(axes).flatMap((chosen) =>
      Array.from({ length: seeds }, (_, i): Trial => {
        const seed = i + 1;
        const plain = Object.fromEntries(Object.entries(chosen).map(([key, { value }]) => [key, value]));
        const typed = Object.entries(chosen).filter(([key]) => varied.has(key));
        const texts = Object.fromEntries(typed.map(([key, { text }]) => [key, text]));
        const recipe = resolveRecipe({ ...values, ...plain, seed }, file);
        return { name: folderName(texts, seed), chosen: texts, seed, recipe };
      }),
    );

    const outcomes: Outcome[] = [];
    for (const [i, { recipe, ...trial }] of trials.entries()) {
      const run = `${folder}/${trial.name}`;
      const label = `${i + 1} of ${trials.length}: ${trial.name}`;
      let [state, message]: [Outcome["state"], string] = ["finished", ""];
      if (await isDone(run, recipe)) io.note(`${label}: finished before`);
      else {
        io.print(label);
        const resume = await RunFolder.isRun(run);
        const ended = await trainWithProgress(recipe, { where: file, run, resume }, io).catch((error: unknown) => {
          // One whose loss is no longer a number says something of its settings; anything else would stop the others too.
          if (!(error instanceof UserError && error.code === "TRAIN_NAN")) throw error;
          return error;
        });
        if (ended instanceof UserError) {
          [state, message] = ["failed", messageOf(ended)];
          io.note(message);
        } else if (ended.stopped === "interrupted") state = "interrupted";
      }
      outcomes.push({ ...trial, run, state, message, measured: await measuredBy(await RunFolder.open(run)) });
      if (state !== "interrupted") continue;
      io.note(`Stopped and saved, ${i} of ${trials.length} runs done. The same command goes on from here.`);
      break;
    }
    const rows = summarise(outcomes);
    io.print("");
    for (const line of formatRows(rows)) io.print(line);
    io.print(`\nLook closer: tabiya compare ${quoted(folder)}, or tabiya report ${quoted(folder)} -o report.html`);
    if (outcomes.some(({ state }) => state === "failed")) io.fail();
    return { folder, rows, runs: outcomes };
  },
});
