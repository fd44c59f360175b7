// A page about runs that needs nothing but itself: no script, no font, no request. For a colleague, by mail.
import type { Calibrated } from "#base";
import { formatSan, parseFen, parseUci } from "#chess";
import type { JudgedPosition } from "#data";
import type { Judgement } from "#training";
import { compareMetrics, type MetricRow, type RunFacts } from "./compare.js";
import {
  COLORS,
  compareConfigs,
  curveOf,
  formatDuration,
  formatValue,
  type Kind,
  metricNames,
  smooth,
} from "./curves.js";
import { drawBoard, drawChart, escaped, pieceSymbols, type Series } from "./svg.js";

/** What a report says of a run. */
export interface ReportedRun extends RunFacts {
  name: string;
  judged?: Judgement & Partial<Calibrated>; // of its best checkpoint
  positions?: { file: string; isUnseen: boolean; sampled: number; worst: JudgedPosition[]; some: JudgedPosition[] };
  trouble?: string; // why the last two are missing
}

export interface ReportOptions {
  title: string;
  date: Date;
  version: string;
}

const SMOOTHED = 20; // stretches that the points of a smoothed curve are averaged over
const EXACT = ["learningRate"]; // no measurements, but what was set
const DRAWN = 400; // points of a curve; more would only make the file large

/** A table whose first row and first column are headings. */
function table(
  rows: readonly (readonly string[])[],
  { marked = () => false as boolean } = {} as { marked?: (row: number, column: number) => boolean },
): string {
  // biome-ignore format: a short one
  const [head, ...body] = rows;
  const headings = head.map((cell) => `<th scope="col">${cell}</th>`).join("");
  const lines = body.map((row, i) => {
    const cells = row.slice(1).map((cell, j) => `<td${marked(i, j) ? ' class="good"' : ""}>${cell}</td>`);
    return `<tr><th scope="row">${row[0]}</th>${cells.join("")}</tr>`;
  });
  return `<div class="scroll" tabindex="0"><table><thead><tr>${headings}</tr></thead><tbody>${lines.join("")}</tbody></table></div>`;
}

const number = (value: number | null | undefined) => (value == null ? "–" : value.toLocaleString("en"));

const colorKey = (color: string) => `<span class="key" style="background:${color}"></span>`;

function summary(runs: readonly ReportedRun[]): string {
  const first = ({ lines }: ReportedRun) => lines[0]?.time ?? 0;
  const last = ({ lines }: ReportedRun) => lines.at(-1)?.time ?? 0;
  const rate = ({ lines }: ReportedRun) => curveOf(lines, "train", "positionsPerSecond").values.at(-1);
  const files = (value: unknown) => (Array.isArray(value) && value.length > 0 ? escaped(value.join(", ")) : "–");
  return table([
    ["", ...runs.map(({ name }, i) => `${colorKey(COLORS[i % COLORS.length])}${escaped(name)}`)],
    ["network", ...runs.map(({ config }) => escaped(`${config.family}, ${config.size}`))],
    ["parameters", ...runs.map(({ parameters }) => number(parameters))],
    ["multiply-adds a position", ...runs.map(({ multiplyAdds }) => number(multiplyAdds))],
    ["state", ...runs.map(({ status: { state, message } }) => escaped(message ? `${state}: ${message}` : state))],
    ["steps", ...runs.map(({ status }) => `${number(status.step)}${status.steps ? ` of ${number(status.steps)}` : ""}`)], // biome-ignore format: a row a line
    ["epoch", ...runs.map(({ status, config }) => `${status.last?.epoch ?? 0} of ${config.epochs}`)],
    ["time between first and last measurement", ...runs.map((run) => formatDuration(last(run) - first(run)))],
    ["positions a second", ...runs.map((run) => (rate(run) === undefined ? "–" : formatValue(rate(run) ?? 0)))],
    ["learnt from", ...runs.map(({ config }) => files(config.data))],
    ["validated on", ...runs.map(({ config }) => files(config.validation))],
  ]);
}

const titleOf = (kind: Kind, name: string) => (kind === "validation" ? `unseen games: ${name}` : `training: ${name}`);

function results(runs: readonly ReportedRun[]): string {
  const rows = compareMetrics(runs);
  const cell = (each: MetricRow["runs"][number]) => {
    if (!each) return "–";
    const best =
      each.best === each.final ? "" : `<small>best ${formatValue(each.best)} at ${number(each.bestStep)}</small>`;
    return `${formatValue(each.final)}${best}`;
  };
  const body = rows.map(({ kind, name, runs: measured }) => [escaped(titleOf(kind, name)), ...measured.map(cell)]);
  return table([["", ...runs.map(({ name }) => escaped(name))], ...body], {
    marked: (row, column) => rows[row].better === column,
  });
}

function settings(runs: readonly ReportedRun[]): string {
  const rows = compareConfigs(runs.map(({ config }) => config));
  const head = ["", ...runs.map(({ name }) => escaped(name))];
  const line = ({ key, values }: (typeof rows)[number]) => [
    escaped(key),
    ...values.map((text) => escaped(text ?? "–")),
  ];
  const different = rows.filter(({ isSame }) => !isSame);
  const same = rows.filter(({ isSame }) => isSame);
  const all = `<details><summary>${runs.length > 1 ? `${same.length} settings that are the same` : "All settings"}</summary>${table([head, ...same.map(line)])}</details>`;
  if (runs.length === 1) return all;
  return (different.length > 0 ? table([head, ...different.map(line)]) : "<p>All settings are the same.</p>") + all;
}

/** Every how-manieth point must do. */
function thin<T>(list: readonly T[]): T[] {
  const step = Math.ceil(list.length / DRAWN);
  return list.filter((_, i) => i % step === 0 || i === list.length - 1);
}

/** Colours by the order of all runs; families in charts of their own, as their losses are not the same thing. */
function curves(runs: readonly ReportedRun[]): string {
  const colored = runs.map((run, i) => ({ ...run, color: COLORS[i % COLORS.length] }));
  const families = [...new Set(runs.map(({ config }) => String(config.family)))];
  const charts = families.flatMap((family) => {
    const own = colored.filter(({ config }) => config.family === family);
    const names = metricNames(own.map(({ lines }) => lines)).filter((name) => name !== "positionsPerSecond");
    return names.map((name) => {
      const series = own.flatMap((run) => seriesOf(run, name));
      if (series.length === 0) return "";
      const title = families.length > 1 ? `${name} (${family})` : name;
      return `<figure><figcaption>${escaped(title)}</figcaption>${drawChart(series, { title: `${title} over the steps`, xLabel: "step" })}</figure>`;
    });
  });
  const key = colored.map(({ name, color }) => `<li>${colorKey(color)}${escaped(name)}</li>`);
  return `<ul class="legend">${key.join("")}<li><span class="stroke"></span>training, smoothed</li><li><span class="stroke dashed"></span>unseen games</li></ul><div class="grid">${charts.join("")}</div>`;
}

function seriesOf({ lines, name: label, color }: ReportedRun & { color: string }, name: string): Series[] {
  const [train, judged] = (["train", "validation"] as const).map((kind) => curveOf(lines, kind, name));
  const points = ({ steps }: typeof train, values: readonly number[]) =>
    thin(steps.map((step, k) => [step, values[k]] as const));
  const weight = EXACT.includes(name) ? 0 : Math.max(0, 1 - SMOOTHED / train.values.length);
  const all: Series[] = [
    { label, color, points: points(train, train.values), isFaint: true },
    { label: `${label}, training`, color, points: points(train, smooth(train.values, weight)) },
    { label: `${label}, unseen games`, color, points: points(judged, judged.values), isDashed: true },
  ];
  return all.filter((series) => series.points.length > 0);
}

function calibration(runs: readonly ReportedRun[]): string {
  const known = runs.flatMap((run, i) => (run.judged?.calibration ? [{ ...run.judged, run, color: COLORS[i % COLORS.length] }] : [])); // biome-ignore format: one thing
  if (known.length === 0) return "<p>None of these runs could be evaluated for this report.</p>";
  const series = known.map(
    ({ run, color, calibration: bins = [] }): Series => ({
      label: run.name,
      color,
      points: bins.map(({ predicted, actual }) => [predicted, actual] as const),
      isDashed: true,
    }),
  );
  const rows = known.map(({ run, positions, calibrationError, loss }) => [
    escaped(run.name),
    number(positions),
    formatValue(loss),
    formatValue(calibrationError ?? 0),
  ]);
  return (
    `<p>Positions are grouped by the value the best checkpoint gives them; on the line, the network is as right as it believes.</p><div class="grid"><figure><figcaption>what came of it, over what was predicted</figcaption>${drawChart(series, { title: "Calibration", xLabel: "predicted", diagonal: true })}</figure></div>` +
    table([["", "positions", "loss", "mean error of calibration"], ...rows])
  );
}

const percent = (share: number | null) => (share === null ? "–" : `${Math.round(100 * share)} %`);

function board({ fen, move, chosen, target, expected, moveShare }: JudgedPosition): string {
  const position = parseFen(fen, { chess960: true });
  const san = (uci: string | null) => {
    const found = uci ? parseUci(position, uci) : undefined;
    return found === undefined ? (uci ?? "–") : formatSan(position, found);
  };
  const share = moveShare === null ? "" : ` (${percent(moveShare)})`;
  const side = position.turn === "white" ? "White" : "Black";
  return `<li>${drawBoard(position, { squares: move ?? "", arrow: chosen })}<p>${side} to move. Data: <b>${escaped(san(move))}</b>${share}, network: <b class="${move === chosen ? "good" : "bad"}">${escaped(san(chosen))}</b><br>expected score: data ${percent(target)}, network <b>${percent(expected)}</b></p></li>`;
}

function boards({ name, positions, trouble }: ReportedRun): string {
  const title = `<h3>${escaped(name)}</h3>`;
  if (!positions) return `${title}<p>Not evaluated: ${escaped(trouble ?? "it has no checkpoint yet.")}</p>`;
  const { file, isUnseen, sampled, worst, some } = positions;
  const about = `of ${sampled} positions of ${escaped(file)}, which the network ${isUnseen ? "has not seen" : "learns from"}`;
  return (
    `${title}<p>The ${worst.length} it is most wrong about, ${about}. Tinted squares: the data's move; arrow: the network's. Expected scores are those of the side to move.</p><ul class="boards">${worst.map(board).join("")}</ul>` +
    `<p>${some.length} others, as they come.</p><ul class="boards">${some.map(board).join("")}</ul>`
  );
}

const STYLE = `
:root{--bg:#f2f0eb;--panel:#fff;--line:#d9d5cc;--text:#24272c;--dim:#5d636d;--good:#1b7450;--bad:#b3261e;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--bg:#15181d;--panel:#1d2127;--line:#343a44;--text:#dfe3ea;--dim:#a0a8b5;--good:#5fc49a;--bad:#f08a7e}}
*{box-sizing:border-box}body{margin:0 auto;max-width:1240px;padding:20px 16px 60px;background:var(--bg);color:var(--text);font:15px/1.45 system-ui,"Segoe UI","Noto Sans",sans-serif}
h1{font-size:1.6rem;margin:0 0 4px}h2{font-size:1.2rem;margin:32px 0 10px}h3{margin:18px 0 4px;font-size:1rem}.dim,small{color:var(--dim)}small{display:block}
.scroll{overflow-x:auto;background:var(--panel);border:1px solid var(--line);border-radius:8px}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:5px 12px;text-align:left;vertical-align:top;border-top:1px solid var(--line)}thead th{border-top:0}tbody th{font-weight:400;color:var(--dim)}td{min-width:9em;max-width:24em;overflow-wrap:anywhere}tbody th{position:sticky;left:0;background:var(--panel)}.good{color:var(--good)}.bad{color:var(--bad)}td.good{font-weight:600}
.key{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:7px}.stroke{display:inline-block;width:26px;border-top:2px solid var(--dim);margin-right:7px;vertical-align:middle}.dashed{border-top-style:dashed}
.legend{display:flex;flex-wrap:wrap;gap:4px 20px;list-style:none;padding:0;margin:0 0 10px}.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(340px,100%),1fr));gap:14px}
figure{margin:0 0 14px;background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:8px}figcaption{font-weight:600;padding:0 6px 4px}
.chart{width:100%;height:auto;display:block}.chart text{fill:var(--dim);font-size:11px}.chart polyline{fill:none;stroke-width:1.8;stroke-linejoin:round}.grid line{stroke:var(--line)}.chart .equal{stroke:var(--dim)}
.boards{display:grid;grid-template-columns:repeat(auto-fill,minmax(165px,1fr));gap:16px;list-style:none;margin:0;padding:0}.boards p{margin:4px 0 0;font-size:13px}
.board{width:100%;height:auto;display:block;border-radius:4px}.light{fill:#ece2cf}.dark{fill:#b08c68}.marked{fill:#7fa82f;fill-opacity:.6}.arrow{stroke:#d2452f;stroke-width:.14;stroke-linecap:round;opacity:.85}.head{fill:#d2452f;opacity:.85}
.white{fill:#fdfcf9;stroke:#2a2622;color:#2a2622}.black{fill:#2a2622;stroke:#f4efe6;color:#f4efe6}.white,.black{stroke-width:1.5;stroke-linejoin:round}symbol .line{fill:none;stroke:currentColor;stroke-width:2.2;stroke-linecap:round}symbol .eye{fill:currentColor;stroke:none}
details{margin-top:12px}summary{cursor:pointer;padding:4px 0}@media print{body{background:#fff}}`;

/** The whole page, as HTML. */
export function formatReport(runs: readonly ReportedRun[], { title, date, version }: ReportOptions): string {
  const when = `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${pieceSymbols()}
<h1>${escaped(title)}</h1>
<p class="dim">Written by tabiya ${escaped(version)}, ${when}.</p>
${summary(runs)}
<h2>Results</h2>
${results(runs)}
<h2>Curves</h2>
${curves(runs)}
<h2>Settings</h2>
${settings(runs)}
<h2>Calibration</h2>
${calibration(runs)}
<h2>Positions</h2>
${runs.map(boards).join("\n")}
</body>
</html>
`;
}
