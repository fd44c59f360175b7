import { basename } from "node:path";
import { UserError } from "#base";
import type { FamilyName } from "#models";
import {
  parseRecipe,
  parseSetting,
  percent,
  RunFolder,
  resolveRecipe,
  settingsOf,
  type TrainResult,
  taskOf,
} from "#training";
import { STORE_OPTION } from "./cluster.js";
import { command } from "./command.js";
import { readRecipe } from "./recipe-files.js";
import { quoted, trainWithProgress } from "./training.js";
import { threadsEach } from "./training-cluster.js";

/** What the best epoch has over the weights the run began with; undefined if these were random or nothing was judged. */
function describeGain(family: FamilyName, { before, history }: Pick<TrainResult, "before" | "history">) {
  const judged = history.flatMap(({ validation }) => validation ?? []);
  if (!before || judged.length === 0) return undefined;
  const after = judged.reduce((best, each) => (each.loss < best.loss ? each : best));
  const losses = `loss ${before.loss.toFixed(4)} -> ${after.loss.toFixed(4)}`;
  return `gained on unseen games: ${taskOf(family).describeGain?.(before, after) ?? losses}`;
}

export default command({
  name: "train",
  summary: "Train a network from a recipe; stop at any time and continue later with --resume.",
  details:
    "A recipe is a YAML file of settings, or the name of a built-in one (see: tabiya recipes). The run's folder keeps the settings, metrics.jsonl, a file for\n" +
    "TensorBoard, a checkpoint for each epoch and the best one. Ctrl-C stops after the current step and saves it; after\n" +
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
      help: "files of other games, to evaluate each epoch on; of a folder, those named *.validation.*",
    },
    run: { help: "folder for everything it writes (default: runs/ and the recipe's name)" },
    resume: { type: "boolean", help: "continue the run in that folder" },
    quick: { type: "boolean", help: "use the recipe's quick settings: a few minutes, to see that everything works" },
    set: { type: "strings", help: "settings that override the recipe's, e.g. epochs=3" },
    limit: { type: "integer", minimum: 1, help: "train on the first N positions only" },
    cluster: { help: "let workers on this Redis help (tabiya worker --trainings), as redis://HOST:6379" },
    ...STORE_OPTION,
    workers: {
      type: "integer",
      minimum: 1,
      help: "with --cluster: wait for N workers, this one included, before the first step; without: start N in this program",
    },
  },

  async run({ recipe: file, data, validation, run, resume, quick, set, limit, cluster, store, workers }, io) {
    if (file === undefined && (!resume || run === undefined))
      throw new UserError("RECIPE_NONE", "Name a recipe (tabiya recipes lists them), or a run to continue: --resume --run FOLDER."); // biome-ignore format: one line
    const where = file ?? `${run}`;
    const share =
      workers !== undefined && workers > 1 && cluster === undefined ? { threads: threadsEach(workers) } : {};
    const recipe = resolveRecipe(
      {
        ...share,
        ...(file === undefined
          ? settingsOf(await (await RunFolder.open(where)).config())
          : parseRecipe(await readRecipe(file), file, { quick })),
        ...Object.assign({}, ...(set ?? []).map(parseSetting)),
        ...(data && { data }),
        ...(validation && { validation }),
        ...(limit && { limit }),
      },
      where,
    );
    const folder = run ?? `runs/${basename(where).replace(/\.ya?ml$/, "")}`;
    const options = { where, run: folder, resume, cluster, store, workers };
    const { history, ...result } = await trainWithProgress(recipe, options, io);
    if (result.stopped === "interrupted")
      io.note(`Stopped and saved. Resume with: tabiya train --resume --run ${quoted(folder)}`);
    io.print(
      `${result.stopped}: ${result.steps} steps, ${Math.round(result.positionsPerSecond)} positions/s, waited for data ${percent(result.waitingForData)} of the time; best: ${result.checkpoint}`,
    );
    const gain = describeGain(recipe.train.family, { ...result, history });
    if (gain !== undefined) io.print(gain);
    return { ...result, history };
  },
});
