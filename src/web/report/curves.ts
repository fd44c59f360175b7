// What runs have measured and how they were set, side by side: for the page, for `tabiya compare` and for reports.
import type { MetricsLine } from "#training";

/** A curve: steps, and a value at each. */
export interface Curve {
  steps: number[];
  values: number[];
}

export const KINDS = ["train", "validation"] as const;
export type Kind = (typeof KINDS)[number];

/** Colours of curves, of the same order everywhere; they can be told apart in both themes. */
export const COLORS = ["#3f9ddb", "#e08a3c", "#46a86b", "#c864b0", "#b59a1f", "#d9605f", "#5c6fd6", "#2ca6a4"];

/** What can be drawn of some runs: every number that was measured, the loss first. */
export function metricNames(runs: Iterable<readonly MetricsLine[]>): string[] {
  const names = new Set<string>(["loss"]);
  for (const lines of runs) for (const { values } of lines) for (const name of Object.keys(values)) names.add(name);
  return [...names];
}

/** How a number came along in a run. */
export function curveOf(lines: readonly MetricsLine[], kind: Kind, name: string): Curve {
  const steps: number[] = [];
  const values: number[] = [];
  for (const line of lines) {
    const value = line.values[name];
    if (line.kind !== kind || value === undefined) continue;
    steps.push(line.step);
    values.push(value);
  }
  return { steps, values };
}

/**
 * A moving average that gives the newest value the share 1 - weight. It is divided by the sum of all shares so far, as in
 * Adam (Kingma & Ba 2014), so that it does not creep up from 0 at the start.
 */
export function smooth(values: readonly number[], weight: number): number[] {
  let sum = 0;
  let shares = 0;
  return values.map((value) => {
    sum = sum * weight + value * (1 - weight);
    shares = shares * weight + (1 - weight);
    return sum / shares;
  });
}

/** Several curves over one axis of steps, as uPlot wants them: null where a curve has no point. */
export function align(curves: readonly Curve[]): [number[], ...(number | null)[][]] {
  const steps = [...new Set(curves.flatMap((curve) => curve.steps))].sort((a, b) => a - b);
  const columns = curves.map((curve) => {
    const at = new Map(curve.steps.map((step, i) => [step, curve.values[i]]));
    return steps.map((step) => at.get(step) ?? null);
  });
  return [steps, ...columns];
}

export interface Difference {
  key: string;
  values: (string | undefined)[]; // of each run, as JSON; undefined where it has no such setting
  isSame: boolean;
}

/** The settings of some runs side by side, those that differ first. */
export function compareConfigs(configs: readonly Readonly<Record<string, unknown>>[]): Difference[] {
  const keys = [...new Set(configs.flatMap((config) => Object.keys(config)))];
  const rows = keys.map((key) => {
    const values = configs.map((config) => (key in config ? JSON.stringify(config[key]) : undefined));
    return { key, values, isSame: values.every((value) => value === values[0]) };
  });
  return [...rows.filter(({ isSame }) => !isSame), ...rows.filter(({ isSame }) => isSame)];
}

/** 3723 -> "1 h 2 min"; 45 -> "45 s" */
export function formatDuration(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** A measured number, short: 0.001234 -> "0.00123", 51234 -> "51,234" */
export function formatValue(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return size < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}
