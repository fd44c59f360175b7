import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { isProcessAlive, makeFolder, messageOf, readText, UserError, writeFile } from "#base";
import { findWeights, shippedNets } from "#models";
import {
  formatSource,
  listSettings,
  parseRecipe,
  parseSource,
  RunFolder,
  type RunStatus,
  readAddedMetrics,
  resolveRecipe,
  TRAIN_DEFAULTS,
  trainable,
} from "#training";
import type { StartRun } from "../protocol/requests.js";
import type { MetricsPart, Mistakes, Recipes, RunDetail, RunSummary } from "../protocol/runs.js";
import { judgePositions } from "../report/judged.js";
import type { DataFiles } from "./data-files.js";
import type { EventHub } from "./hub.js";
import type { Program } from "./program.js";

const HOME = "runs";
const RECIPE = "recipe.yaml"; // what a run is started and resumed by
const START = "start.json"; // the process that was started to make the run
const LOG = "train.log"; // what that process prints
const LOG_SHOWN = 20_000; // characters
const START_MS = 4_000; // a request waits for a start; data that must be made ready first takes longer
const SAMPLE = 400; // positions judged for the boards
const BOARDS = 50;
const SAME = 24; // positions that are shown for every checkpoint

interface Known {
  print: string; // of what the summary is made of
  summary: RunSummary;
  metrics: number; // bytes of the metrics that were told
}

/** The training runs of the working folder, whoever trains them; what their folders hold is all there is to know. */
export class Runs {
  private readonly known = new Map<string, Known>();
  private readonly mistakesFound = new Map<string, Promise<Mistakes>>();
  private readonly quit = new AbortController();

  constructor(
    private readonly program: Program,
    private readonly data: DataFiles,
    private readonly hub: EventHub,
    private readonly recipeFolder: string,
  ) {}

  /** Looks what has changed, and tells everybody. */
  async look(): Promise<void> {
    const ids = await this.ids();
    for (const id of ids) {
      const before = this.known.get(id);
      const summary = await this.summarise(id).catch((error) => broken(id, messageOf(error)));
      if (!summary) continue;
      const print = JSON.stringify(summary);
      const metrics = before ? await this.tellMetrics(id, before.metrics) : await this.metricsSize(id);
      this.known.set(id, { print, summary, metrics });
      if (before?.print !== print) this.hub.publish({ type: "run", run: summary });
    }
    for (const id of this.known.keys()) {
      if (ids.includes(id)) continue;
      this.known.delete(id);
      this.hub.publish({ type: "run-gone", id });
    }
  }

  async list(): Promise<RunSummary[]> {
    await this.look();
    return [...this.known.values()].map(({ summary }) => summary).sort((a, b) => b.updatedMs - a.updatedMs);
  }

  async detail(id: string): Promise<RunDetail> {
    const run = await this.find(id);
    const folder = (await RunFolder.isRun(this.path(id))) ? await RunFolder.open(this.path(id)) : undefined;
    const config = folder ? await folder.config() : parseRecipe(await readText(`${this.path(id)}/${RECIPE}`), RECIPE);
    const checkpoints = (await folder?.checkpoints()) ?? [];
    const best = checkpoints.filter(({ name }) => name === "best");
    const rest = checkpoints.filter(({ name }) => name !== "best");
    return { run, config, checkpoints: [...rest, ...best].map(({ name, epoch, step }) => ({ name, epoch, step })) };
  }

  /** Metrics from a byte of their file on; all that count, without one. */
  async metrics(id: string, from?: number): Promise<MetricsPart> {
    await this.find(id);
    if (from !== undefined) {
      const { isResumed, ...part } = await readAddedMetrics(this.path(id), from);
      if (!isResumed) return part;
    }
    const to = await this.metricsSize(id);
    const run = (await RunFolder.isRun(this.path(id))) ? await RunFolder.open(this.path(id)) : undefined;
    return { from: 0, to, lines: (await run?.metrics()) ?? [] };
  }

  /** The last of what its process printed. */
  async log(id: string): Promise<string> {
    await this.find(id);
    return lastWords(`${this.path(id)}/${LOG}`);
  }

  async start({ name, settings }: StartRun): Promise<{ id: string }> {
    if ((await readdir(this.path(name)).catch(() => [])).length > 0)
      throw new UserError("NAME_TAKEN", `There is a run "${name}" already. Choose another name, or resume that one.`);
    const data = await this.dataOf(settings.data);
    if (data.length === 0) throw new UserError("DATA_NONE", "Choose the data to learn from.");
    const validation = await this.dataOf(settings.validation);
    const start = String(settings.start ?? "");
    if (start !== "" && !(await this.starts()).includes(start))
      throw new UserError("ID_UNKNOWN", `start: there are no weights "${start}" among the runs and networks here.`);
    const values = { ...settings, data, validation };
    resolveRecipe(values, "settings");
    await makeFolder(this.path(name));
    await writeFile(`${this.path(name)}/${RECIPE}`, `${JSON.stringify(values, null, 2)}\n`); // JSON is YAML too
    await this.train(name, []);
    return { id: name };
  }

  async resume(id: string): Promise<{ id: string }> {
    const run = await this.find(id);
    if (run.state === "running" || run.state === "starting")
      throw new UserError("ALREADY_RUNNING", "This run is being trained.");
    const path = `${this.path(id)}/${RECIPE}`;
    if (!(await stat(path).catch(() => undefined))) {
      const config = await (await RunFolder.open(this.path(id))).config();
      const { dataFingerprint: _, validationFingerprint: __, ...values } = config;
      await writeFile(path, `${JSON.stringify(values, null, 2)}\n`);
    }
    await this.train(id, ["--resume"]);
    return { id };
  }

  async stop(id: string): Promise<{ id: string }> {
    const run = await this.find(id);
    const key = run.state === "running" ? (await this.statusOf(id))?.process : await this.starting(id);
    if (key === undefined || key === "") throw new UserError("NOT_RUNNING", "This run is not being trained.");
    this.program.stop(key);
    return { id };
  }

  /** The file of a checkpoint's weights, for the page's networks. */
  async weights(id: string, checkpoint: string): Promise<string> {
    return findWeights(await this.checkpoint(id, checkpoint));
  }

  /** Positions that a checkpoint is most wrong about; found once. */
  async mistakes(id: string, checkpoint: string): Promise<Mistakes> {
    const path = await this.checkpoint(id, checkpoint);
    const { mtimeMs } = await stat(path);
    const key = `${path} ${mtimeMs}`;
    const found = this.mistakesFound.get(key) ?? this.findMistakes(id, path);
    this.mistakesFound.set(key, found);
    found.catch(() => this.mistakesFound.delete(key));
    return found;
  }

  async recipes(): Promise<Recipes> {
    const names = (await readdir(this.recipeFolder)).filter((name) => /\.ya?ml$/.test(name)).sort();
    const families = trainable();
    const recipes = await Promise.all(
      names.map(async (name) => {
        const text = await readText(join(this.recipeFolder, name));
        const about = /^# ?(.*?[.:])(\s|$)/s.exec(text)?.[1].replace(/\n# ?/g, " ") ?? "";
        return { name: name.replace(/\.ya?ml$/, ""), about: about.replace(/:$/, "."), values: parseRecipe(text, name) };
      }),
    );
    return {
      recipes: recipes.filter(({ values }) =>
        families.some(({ family }) => family === (values.family ?? TRAIN_DEFAULTS.family)),
      ),
      families: families.map(({ family, sizes }) => ({
        family,
        sizes: sizes.map((size) => ({ size, settings: listSettings(family, size) })),
      })),
      starts: await this.starts(),
    };
  }

  /** What a contest may play with: the best checkpoint of each run that has one. */
  async trained(): Promise<{ path: string; family: string; state: string }[]> {
    const runs = await this.list();
    const found = [];
    for (const { id, family, state } of runs) {
      const names = await readdir(this.path(id)).catch((): string[] => []);
      if (names.includes("best")) found.push({ path: `${HOME}/${id}`, family, state });
    }
    return found;
  }

  async close(): Promise<void> {
    this.quit.abort();
    await Promise.allSettled(this.mistakesFound.values());
  }

  private path(id: string): string {
    return join(this.program.folder, HOME, id);
  }

  private async ids(): Promise<string[]> {
    const entries = await readdir(join(this.program.folder, HOME), { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map(({ name }) => name);
  }

  private async find(id: string): Promise<RunSummary> {
    const summary = (await this.ids()).includes(id) ? await this.summarise(id) : undefined;
    if (!summary) throw new UserError("ID_UNKNOWN", "There is no such run.");
    return summary;
  }

  private async checkpoint(id: string, name: string): Promise<string> {
    const { checkpoints } = await this.detail(id);
    if (checkpoints.some((each) => each.name === name)) return join(this.path(id), name);
    throw new UserError("ID_UNKNOWN", "This run has no such checkpoint.");
  }

  /** Starts the training and waits until it runs; if it ends before, its last words are the error. */
  private async train(id: string, more: readonly string[]): Promise<void> {
    const path = this.path(id);
    const [run, log] = [`${HOME}/${id}`, `${path}/${LOG}`];
    await writeFile(log, "");
    const child = await this.program.start(["train", `${run}/${RECIPE}`, "--run", run, ...more], log);
    await writeFile(`${path}/${START}`, JSON.stringify({ process: child.key }));
    const isTrained = async () => (await this.statusOf(id))?.process === child.key;
    const end = await child.until(isTrained, START_MS);
    await this.look();
    if (end === "ended" && !(await isTrained())) throw new UserError("TRAIN_FAILED", await lastWords(log));
  }

  private async statusOf(id: string): Promise<RunStatus | undefined> {
    if (!(await RunFolder.isRun(this.path(id)))) return undefined;
    return (await RunFolder.open(this.path(id))).status();
  }

  /** The process that makes a run's data ready, if there is one. */
  private async starting(id: string): Promise<string | undefined> {
    const text = await readFile(`${this.path(id)}/${START}`, "utf8").catch(() => "{}");
    const key = String((JSON.parse(text) as { process?: string }).process ?? "");
    return isProcessAlive(key) ? key : undefined;
  }

  private async summarise(id: string): Promise<RunSummary | undefined> {
    const path = this.path(id);
    const status = await this.statusOf(id);
    const key = await this.starting(id);
    if (!status || (status.state !== "running" && key !== undefined && key !== status.process)) {
      const names = await readdir(path).catch((): string[] => []);
      if (!names.includes(RECIPE)) return undefined; // no run of ours
      const values = parseRecipe(await readText(`${path}/${RECIPE}`), RECIPE);
      const state = key === undefined ? "failed" : "starting";
      const message = key === undefined ? await lastWords(`${path}/${LOG}`) : "";
      const { mtimeMs: updatedMs } = await stat(`${path}/${RECIPE}`);
      const { family = TRAIN_DEFAULTS.family, size = TRAIN_DEFAULTS.size, epochs = 0 } = values;
      return { ...broken(id, message), state, updatedMs, family: `${family}`, size: `${size}`, epochs: Number(epochs) };
    }
    const config = await (await RunFolder.open(path)).config();
    const { state, updatedMs, steps = null, last = null } = status;
    // What it printed last may say what its folder does not, as when there was no room left to write to.
    const words = status.isDead ? await lastWords(`${path}/${LOG}`) : "";
    const message = words === "" ? status.message : `${status.message}\n${words}`;
    const { family, size, epochs, batchSize, accumulate } = config;
    const rate = last?.values.positionsPerSecond;
    const isTimed = state === "running" && steps !== null && last !== null && rate !== undefined && rate > 0;
    const secondsLeft = isTimed ? ((steps - last.step) * Number(batchSize) * Number(accumulate)) / rate : null;
    const bestMs = (await stat(`${path}/best`).catch(() => undefined))?.mtimeMs ?? null;
    return { id, state, message, updatedMs, family: `${family}`, size: `${size}`, epochs: Number(epochs), steps, last, secondsLeft, bestMs }; // biome-ignore format: a list
  }

  private async metricsSize(id: string): Promise<number> {
    return (await stat(`${this.path(id)}/metrics.jsonl`).catch(() => undefined))?.size ?? 0;
  }

  /** Tells what was added to the metrics; returns how many bytes are told now. */
  private async tellMetrics(id: string, before: number): Promise<number> {
    const { isResumed, ...part } = await readAddedMetrics(this.path(id), before);
    if (isResumed) this.hub.publish({ type: "metrics-reset", id });
    else if (part.lines.length > 0) this.hub.publish({ type: "metrics", id, ...part });
    return isResumed ? this.metricsSize(id) : part.to;
  }

  private async dataOf(value: unknown): Promise<string[]> {
    const ids = value === undefined || value === "" ? [] : Array.isArray(value) ? value : [value];
    return Promise.all(
      ids.map(async (id) => {
        const source = parseSource(String(id));
        return formatSource({ ...source, path: await this.data.pathOf(source.path) });
      }),
    );
  }

  /** Weights that a training may begin with. */
  private async starts(): Promise<string[]> {
    const shipped = (await shippedNets()).filter(({ file }) => file.endsWith(".safetensors"));
    return [...shipped.map(({ family }) => family), ...(await this.trained()).map(({ path }) => `${path}/best`)];
  }

  private async findMistakes(id: string, checkpoint: string): Promise<Mistakes> {
    const { config } = await this.detail(id);
    const options = { home: this.program.folder, sample: SAMPLE, signal: this.quit.signal };
    const { file, isUnseen, positions } = await judgePositions({ path: this.path(id), config }, checkpoint, options);
    const sample = positions.toSorted((a, b) => a.fen.localeCompare(b.fen)).slice(0, SAME);
    return { data: basename(file), isUnseen, positions: positions.slice(0, BOARDS), sample, sampled: positions.length };
  }
}

const broken = (id: string, message: string): RunSummary => ({
  id,
  state: "failed",
  message,
  updatedMs: 0,
  family: "",
  size: "",
  epochs: 0,
  steps: null,
  last: null,
  secondsLeft: null,
  bestMs: null,
});

/** The end of a log, without the settings that it begins with. */
async function lastWords(path: string): Promise<string> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text
    .replace(/^settings: .*\n/m, "")
    .slice(-LOG_SHOWN)
    .trim();
}
