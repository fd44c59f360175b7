import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { Random, UserError } from "#base";
import { openSets, warnBeforeTraining } from "#data";
import { FAMILIES } from "#models";
import { parametersOf } from "#tensor";
import {
  listSettings,
  parseSource,
  percent,
  type Recipe,
  resultShareOf,
  type StepReport,
  type TrainResult,
  taskOf,
  train,
} from "#training";
import type { Io } from "./command.js";
import { packageFile } from "./package-file.js";
import { formatCount } from "./progress.js";
import { withExchange } from "./training-cluster.js";

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

/** A word of a command line, quoted if it must be. */
export const quoted = (word: string) => (/^[\w./:@=+-]+$/.test(word) ? word : JSON.stringify(word));

/** The commit of the program, if it runs from a clone. */
function gitCommit(): string {
  const folder = packageFile("");
  if (!existsSync(`${folder}.git`)) return "unknown"; // installed: the repository around it, if any, is the user's
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

/** How large a network is, and what it costs to ask it. */
function describeSize({ train: { family }, model }: Pick<Recipe, "train" | "model">): string {
  const network = FAMILIES[family].build(model, new Random(1));
  const parameters = parametersOf(network).reduce((sum, { data }) => sum + data.length, 0);
  return `${parameters.toLocaleString("en")} parameters, ${formatCount(FAMILIES[family].multiplyAdds(model))} multiply-adds a position`;
}

interface Training {
  where: string; // what the recipe is called in messages
  run: string; // folder
  resume?: boolean;
  cluster?: string;
  store?: string;
  workers?: number;
}

/** Trains by a recipe, with its progress on the terminal. */
export async function trainWithProgress(
  recipe: Recipe,
  { where, run, resume, cluster, store, workers }: Training,
  io: Io,
): Promise<TrainResult & { run: string }> {
  const { train: config } = recipe;
  const task = taskOf(config.family);
  if (config.data.length === 0)
    throw new UserError("DATA_NONE", `${where}: no data to learn from. Name it with --data FILE.`);
  io.note(`${describeSettings(recipe)}; ${describeSize(recipe)}`);
  const sets = { folder: `${run}/data`, resultShare: resultShareOf(recipe), ...io };
  const paths = await openSets(config.data, { ...sets, role: "learn" });
  for (const path of paths) {
    const { path: file, resultShare = resultShareOf(recipe) } = parseSource(path);
    if (resultShare === undefined) continue;
    for (const warning of await warnBeforeTraining(file, resultShare)) io.note(`warning: ${file}: ${warning}`);
  }
  const source = await task.open(paths, recipe, config.limit);
  const judged = await openSets(config.validation, { ...sets, role: "judge" });
  const judges = judged.length > 0 ? await task.open(judged, recipe) : undefined;
  io.note(
    `${source.positions} positions to learn, ${judges?.positions ?? "none"} to validate on; everything is kept in ${run}`,
  );

  let first: { step: number; time: number } | undefined;
  const training = withExchange({ cluster, store, workers, recipe, paths, data: source, run }, io, (exchange) =>
    train(recipe, {
      run,
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
  const result = await training.finally(() => Promise.all([source.close(), judges?.close()]));
  return { ...result, run };
}
