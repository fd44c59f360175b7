import { listFolder, Random } from "#base";
import { FAMILIES, isFamily } from "#models";
import { parametersOf } from "#tensor";
import { type MetricsLine, RunFolder, type RunStatus, resolveRecipe, settingsOf } from "#training";
import { curveOf, KINDS, type Kind, metricNames } from "./curves.js";

/** What a run's folder says of it. */
export interface RunFacts {
  path: string;
  config: Readonly<Record<string, unknown>>; // its settings, and the fingerprints of its data
  status: RunStatus;
  lines: readonly MetricsLine[];
  parameters: number | null; // null for a family that is not known here
  multiplyAdds: number | null;
}

/** The runs that paths name: folders of runs, or folders that hold some, as a sweep's. */
export async function readRuns(paths: readonly string[]): Promise<RunFacts[]> {
  const found: RunFacts[] = [];
  for (const path of paths) {
    const inside = (await RunFolder.isRun(path))
      ? []
      : ((await listFolder(path)) ?? []).map((name) => `${path}/${name}`);
    const runs: string[] = [];
    for (const each of inside.sort()) if (await RunFolder.isRun(each)) runs.push(each);
    for (const run of runs.length > 0 ? runs : [path]) found.push(await readRun(run));
  }
  return found;
}

async function readRun(path: string): Promise<RunFacts> {
  const run = await RunFolder.open(path);
  const [config, status, lines] = [await run.config(), await run.status(), await run.metrics()];
  return { path, config, status, lines, ...sizeOf(config, path) };
}

function sizeOf(config: RunFacts["config"], path: string): Pick<RunFacts, "parameters" | "multiplyAdds"> {
  const { family } = config;
  if (!isFamily(String(family))) return { parameters: null, multiplyAdds: null };
  const { train, model } = resolveRecipe(settingsOf(config), path);
  const network = FAMILIES[train.family].build(model, new Random(1));
  return {
    parameters: parametersOf(network).reduce((sum, { data }) => sum + data.length, 0),
    multiplyAdds: FAMILIES[train.family].multiplyAdds(model),
  };
}

/** A number that a run measured: as it is now, and at its best. */
export interface Measurement {
  final: number;
  best: number;
  bestStep: number;
}

/** One measured number of several runs. */
export interface MetricRow {
  kind: Kind;
  name: string;
  runs: (Measurement | null)[]; // null where a run has not measured it
  better: number | null; // which run has the best value; null if none stands out
}

const HOW = new Set(["learningRate", "positionsPerSecond", "gradientNorm"]); // how a run went, not how good it is
const isLossLike = (name: string) => /loss|mae|rmse|error|perplexity/i.test(name);

/** The better of two values of a number: errors shall be small, shares of moves found large. */
export const isBetter = (name: string, a: number, b: number): boolean => (isLossLike(name) ? a < b : a > b);

function measure(lines: readonly MetricsLine[], kind: Kind, name: string): Measurement | null {
  const { steps, values } = curveOf(lines, kind, name);
  if (values.length === 0) return null;
  const at = values.reduce((best, value, i) => (isBetter(name, value, values[best]) ? i : best), 0);
  return { final: values[values.length - 1], best: values[at], bestStep: steps[at] };
}

/** Everything some runs measured, side by side: what was judged on unseen games first. */
export function compareMetrics(runs: readonly RunFacts[]): MetricRow[] {
  const names = metricNames(runs.map(({ lines }) => lines)).filter((name) => !HOW.has(name));
  const isFair = new Set(runs.map(({ config }) => config.family)).size === 1; // the losses of two families are two things
  const rows = [...KINDS].reverse().flatMap((kind) =>
    names.map((name): MetricRow => {
      const measured = runs.map(({ lines }) => measure(lines, kind, name));
      return { kind, name, runs: measured, better: isFair ? bestOf(name, measured) : null };
    }),
  );
  return rows.filter(({ runs: measured }) => measured.some((each) => each !== null));
}

function bestOf(name: string, measured: readonly (Measurement | null)[]): number | null {
  const known = measured.flatMap((each, i) => (each ? [{ i, value: each.best }] : []));
  if (known.length < 2) return null;
  const [first, second] = known.sort((a, b) => (isBetter(name, a.value, b.value) ? -1 : 1));
  return first.value === second.value ? null : first.i;
}

const BARS = "▁▂▃▄▅▆▇█";

/** A curve in characters: means of equal stretches of steps, between bounds that several curves may share. */
export function sparkline(
  { steps, values }: { steps: readonly number[]; values: readonly number[] },
  { width, low, high, lastStep }: { width: number; low: number; high: number; lastStep: number },
): string {
  const sums = Array.from({ length: width }, () => ({ sum: 0, count: 0 }));
  for (const [i, step] of steps.entries()) {
    const slot = sums[Math.min(width - 1, Math.floor((step / Math.max(1, lastStep)) * width))];
    slot.sum += values[i];
    slot.count++;
  }
  const range = high - low || 1;
  let last = "";
  return sums
    .map(({ sum, count }, i) => {
      const isOver = sums.slice(i).every((slot) => slot.count === 0);
      if (count > 0) last = BARS[Math.round(((sum / count - low) / range) * (BARS.length - 1))];
      return isOver ? " " : last || " "; // between two measurements the line goes on; after the last it ends
    })
    .join("");
}
