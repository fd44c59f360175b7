import { basename } from "node:path";
import { UserError } from "#base";
import {
  compareConfigs,
  compareMetrics,
  curveOf,
  formatValue,
  type MetricRow,
  type RunFacts,
  readRuns,
  sparkline,
} from "#web";
import { command } from "./command.js";
import { formatCount } from "./progress.js";
import { formatTable, hasColor, style } from "./table.js";

const CURVE = 48; // characters
const SHORT = 36; // characters of a setting's value

const short = (text: string) => (text.length > SHORT ? `${text.slice(0, SHORT - 3)}...` : text);

/** Names for columns: the folders' own, or their paths where two are called alike. */
export function nameRuns(paths: readonly string[]): string[] {
  const names = paths.map((path) => basename(path.replace(/[\\/]+$/, "")));
  return new Set(names).size === names.length ? names : [...paths];
}

const count = (value: number | null) => (value === null ? "?" : formatCount(value));

/** The curves of one number, a line for each run, between bounds they share. */
function drawCurves({ kind, name }: MetricRow, runs: readonly RunFacts[], names: readonly string[]): string[] {
  const curves = runs.map(({ lines }) => curveOf(lines, kind, name));
  const values = curves.flatMap((curve) => curve.values);
  const bounds = {
    width: CURVE,
    low: values.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
    high: values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
    lastStep: Math.max(...curves.map(({ steps }) => steps.at(-1) ?? 0)),
  };
  const width = Math.max(...names.map(({ length }) => length));
  const title = `${kind} ${name}, ${formatValue(bounds.low)} to ${formatValue(bounds.high)}, over ${bounds.lastStep} steps`;
  return [title, ...curves.map((curve, i) => `  ${names[i].padEnd(width)}  ${sparkline(curve, bounds)}`)];
}

export default command({
  name: "compare",
  summary: "Compare training runs: which settings differ, their curves, and which is best.",
  details:
    "For each metric the last value is shown, and the best one if it differs; the best of all runs is marked\n" +
    "with *. Runs that are still being trained can be compared too.",
  examples: [
    "tabiya compare runs/a runs/b",
    "tabiya compare runs/nnue-tiny-sweep --all",
    "tabiya compare runs/a runs/b --json",
  ],
  arguments: { runs: { type: "strings", help: "folders of runs, or folders that hold runs" } },
  options: {
    all: { type: "boolean", help: "also show the settings that are the same" },
    metric: { help: "the metric whose curves are drawn; loss by default" },
  },

  async run({ runs: paths, all, metric = "loss" }, { print }) {
    const runs = await readRuns(paths);
    const names = nameRuns(runs.map(({ path }) => path));
    const settings = compareConfigs(runs.map(({ config }) => config));
    const metrics = compareMetrics(runs);
    const drawn = metrics.filter(({ name }) => name === metric);
    if (drawn.length === 0 && metric !== "loss") {
      const known = [...new Set(metrics.map(({ name }) => name))];
      throw new UserError("METRIC_UNKNOWN", `These runs measured no "${metric}"; they measured: ${known.join(", ")}.`);
    }

    const isColored = hasColor();
    const differing = settings.filter(({ isSame }) => !isSame);
    const rate = ({ lines }: RunFacts) => curveOf(lines, "train", "positionsPerSecond").values.at(-1) ?? null;
    const shown = all ? settings : differing;
    const heading = runs.length > 1 && !all ? "settings that differ" : "settings";
    const rows = [
      ["", ...names],
      ["state", ...runs.map(({ status }) => status.state)],
      ["steps", ...runs.map(({ status: { step, steps } }) => `${step}${steps ? ` of ${steps}` : ""}`)],
      ["parameters", ...runs.map(({ parameters }) => count(parameters))],
      ["multiply-adds", ...runs.map(({ multiplyAdds }) => count(multiplyAdds))],
      ["positions/s", ...runs.map((run) => count(rate(run)))],
      ...(shown.length > 0 ? [[], [`${heading}:`]] : []),
      ...shown.map(({ key, values, isSame }) => {
        const isMarked = runs.length > 1 && all && !isSame;
        return [key, ...values.map((value) => style(short(value ?? "-"), isMarked ? "warm" : "", isColored))];
      }),
      ...(metrics.length > 0 ? [[], ["results:"]] : []),
      ...metrics.map((row) => formatMetric(row, isColored)),
    ];
    for (const line of formatTable(rows)) print(line);
    for (const row of drawn) print(`\n${drawCurves(row, runs, names).join("\n")}`);

    if (!all && runs.length > 1)
      print(`\n${settings.length - differing.length} settings are the same in all; --all shows them.`);
    return {
      runs: runs.map(({ lines: _, ...facts }) => facts),
      settings: differing.map(({ key, values }) => ({ key, values: values.map((text) => (text === undefined ? null : JSON.parse(text))) })), // biome-ignore format: one line
      metrics,
    };
  },
});

function formatMetric({ kind, name, runs, better }: MetricRow, isColored: boolean): string[] {
  const cells = runs.map((each, i) => {
    if (!each) return "-";
    const { final, best, bestStep } = each;
    const past = best === final ? "" : ` (best ${formatValue(best)} at ${bestStep})`;
    const text = `${formatValue(final)}${past}`;
    return i === better ? style(`${text} *`, "good", isColored) : text;
  });
  return [`${kind} ${name}`, ...cells];
}
