import { execFileSync } from "node:child_process";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { Random, UserError } from "#base";
import { openSets } from "#data";
import { FAMILIES } from "#models";
import { parametersOf } from "#tensor";
import {
  listSettings,
  parseRecipe,
  parseSetting,
  percent,
  type Recipe,
  RunFolder,
  resolveRecipe,
  resultShareOf,
  type StepReport,
  taskOf,
  train,
} from "#training";
import { STORE_OPTION } from "./cluster.js";
import { command } from "./command.js";
import { readRecipe } from "./recipe-files.js";
import { threadsEach, withExchange } from "./training-cluster.js";

const duration = (seconds: number) =>
  seconds < 90
    ? `${Math.ceil(seconds)} s`
    : seconds < 5400
      ? `${Math.ceil(seconds / 60)} min`
      : `${(seconds / 3600).toFixed(1)} h`;

/** The first steps are slow and few: what they say of the time left means nothing. */
const MEANINGFUL = { steps: 20, ms: 5000 };

function describeStep({ step, steps, epoch, loss, positionsPerSecond }: StepReport, startStep: number, ms: number) {
  const done = step - startStep;
  const left = ((ms / 1000) * (steps - step)) / Math.max(1, done);
  const isKnown = done >= MEANINGFUL.steps && ms >= MEANINGFUL.ms;
  return `epoch ${epoch}, step ${step} of ${steps} (${percent(step / steps)}), loss ${loss.toFixed(3)}, ${Math.round(positionsPerSecond)} positions/s${isKnown ? `, ${duration(left)} left` : ""}`;
}

/** The settings that are not the family's defaults, in a line; all of them stand in the run's config.json. */
function describeSettings({ train: { family, size, data, validation, ...train }, task, model }: Recipe): string {
  const defaults = Object.fromEntries(listSettings(family, size).map(({ key, default: preset }) => [key, preset]));
  const changed = Object.entries({ ...train, ...task, ...model })
    .filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(defaults[key]))
    .map(([key, value]) => `${key} ${typeof value === "string" ? value : JSON.stringify(value)}`);
  return [`${family}, ${size}`, ...changed].join(", ");
}

/** The settings of a run that was begun before. */
async function settingsOf(folder: string): Promise<Record<string, unknown>> {
  const config = await (await RunFolder.open(folder)).config();
  const { train } = resolveRecipe({ family: config.family, size: config.size }, folder);
  const known = new Set(listSettings(train.family).map(({ key }) => key));
  return Object.fromEntries(Object.entries(config).filter(([key]) => known.has(key)));
}

/** A word of a command line, quoted if it must be. */
const quoted = (word: string) => (/^[\w./:@=+-]+$/.test(word) ? word : JSON.stringify(word));

/** The commit of the program, if it runs from a clone. */
function gitCommit(): string {
  const folder = fileURLToPath(new URL("../..", import.meta.url));
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "ignore"],
      encoding: "utf8",
    }).trim();
  } catch {
    return "unknown";
  }
}

export default command({
  name: "train",
  summary: "Train a network by a recipe; stop it at any moment and go on later with --resume.",
  details:
    "A recipe is a YAML file of settings, or the name of one in the box (see: tabiya recipes). The run's folder keeps the settings, metrics.jsonl, a file for\n" +
    "TensorBoard, a checkpoint for each epoch and the best one. Ctrl-C stops after the present step and saves it; after\n" +
    "a crash (even kill -9) a resumed run ends with exactly the weights it would have had.",
  examples: [
    "tabiya train recipes/residual-tiny.yaml --data games.bin --set validation=games-validation.bin",
    "tabiya train --resume --run runs/residual-tiny",
    "tabiya train recipes/nnue-base.yaml --quick --data games.bin",
    "tabiya train nnue-tiny --data sets/ --validation sets/",
    "tabiya train recipes/residual-tiny.yaml --data games.bin --set epochs=3 learningRate=0.002 --limit 20000 --json",
  ],
  arguments: {
    recipe: { optional: true, help: "YAML file of settings, or the name of a recipe; not needed to resume a run" },
  },
  options: {
    data: {
      type: "strings",
      help: "files to learn from: .bin, .binpack, .plain, scored .jsonl, or games (.pgn); a folder stands for all in it",
    },
    validation: {
      type: "strings",
      help: "files of other games, to judge each epoch by; of a folder, those named *.validation.*",
    },
    run: { help: "folder for all that comes of it (default: runs/ and the recipe's name)" },
    resume: { type: "boolean", help: "go on with the run in that folder" },
    quick: { type: "boolean", help: "a few minutes by the recipe's quick settings, to see that all is in place" },
    set: { type: "strings", help: "settings instead of the recipe's, as epochs=3" },
    limit: { type: "integer", minimum: 1, help: "learn from the first so many positions only" },
    cluster: { help: "let workers on this Redis help (tabiya worker --trainings), as redis://HOST:6379" },
    ...STORE_OPTION,
    workers: {
      type: "integer",
      minimum: 1,
      help: "with --cluster: wait for so many, this one counted, before the first step; without: so many in this program",
    },
  },

  async run({ recipe: file, data, validation, run, resume, quick, set, limit, cluster, store, workers }, io) {
    if (file === undefined && (!resume || run === undefined))
      throw new UserError("RECIPE_NONE", "Name a recipe (tabiya recipes lists them), or a run to go on with: --resume --run FOLDER."); // biome-ignore format: one line
    const where = file ?? `${run}`;
    const share =
      workers !== undefined && workers > 1 && cluster === undefined ? { threads: threadsEach(workers) } : {};
    const recipe = resolveRecipe(
      {
        ...share,
        ...(file === undefined ? await settingsOf(where) : parseRecipe(await readRecipe(file), file, { quick })),
        ...Object.assign({}, ...(set ?? []).map(parseSetting)),
        ...(data && { data }),
        ...(validation && { validation }),
        ...(limit && { limit }),
      },
      where,
    );
    const { train: config, model } = recipe;
    const task = taskOf(config.family);
    if (config.data.length === 0)
      throw new UserError("DATA_NONE", `${where}: no data to learn from. Name it with --data FILE.`);
    const folder = run ?? `runs/${basename(where).replace(/\.ya?ml$/, "")}`;
    const network = FAMILIES[config.family].build(model, new Random(1));
    const parameters = parametersOf(network).reduce((sum, { data: weights }) => sum + weights.length, 0);
    io.note(`${describeSettings(recipe)}; ${parameters} parameters`);
    const sets = { folder: `${folder}/data`, resultShare: resultShareOf(recipe), ...io };
    const paths = await openSets(config.data, { ...sets, role: "learn" });
    const source = await task.open(paths, recipe, config.limit);
    const judged = await openSets(config.validation, { ...sets, role: "judge" });
    const judges = judged.length > 0 ? await task.open(judged, recipe) : undefined;
    io.note(
      `${source.positions} positions to learn, ${judges?.positions ?? 0} to judge by; everything is kept in ${folder}`,
    );

    let first: { step: number; time: number } | undefined;
    const training = withExchange(
      { cluster, store, workers, recipe, paths, data: source, run: folder },
      io,
      (exchange) =>
        train(recipe, {
          run: folder,
          data: source,
          validation: judges,
          exchange,
          resume,
          signal: io.signal,
          now: Date.now,
          metadata: { git_commit: gitCommit() },
          onProgress(report) {
            first ??= { step: report.step - 1, time: performance.now() };
            io.progress(describeStep(report, first.step, performance.now() - first.time));
          },
          onEpoch: (summary, judged) => io.print(task.describeEpoch(summary, judged)),
        }),
    );
    const { history, ...result } = await training.finally(() => Promise.all([source.close(), judges?.close()]));
    if (result.stopped === "interrupted")
      io.note(`Stopped and saved. Resume with: tabiya train --resume --run ${quoted(folder)}`);
    io.print(
      `${result.stopped}: ${result.steps} steps, ${Math.round(result.positionsPerSecond)} positions/s, waited for data ${percent(result.waitingForData)} of the time; best: ${result.checkpoint}`,
    );
    return { ...result, run: folder, history };
  },
});
