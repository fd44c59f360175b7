// Trains a network of each family on the same positions for the same time, and measures all four in the same way:
//   node bench/comparison.mjs MOVES.jsonl --games GAMES.pgn --values EVALS.pgn --puzzles PUZZLES.csv --book BOOK [--minutes 5] [--out comparison]
// MOVES.jsonl has positions with every legal move valued (tabiya data label --multipv all), GAMES.pgn games of strong players, EVALS.pgn games
// with [%eval]. Each step leaves a file in --out, and a step whose file is there is not done again, so that it can be interrupted and repeated.
// Prints tables in Markdown and writes the figure puzzles.svg.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    games: { type: "string" },
    values: { type: "string" },
    puzzles: { type: "string" },
    book: { type: "string" },
    minutes: { type: "string", default: "5" }, // of training, for each network
    limit: { type: "string", default: "2000" }, // positions and puzzles of each test
    rounds: { type: "string", default: "10" }, // openings for each pair of players, two games each
    movetime: { type: "string", default: "50" }, // milliseconds a move, with search
    out: { type: "string", default: "comparison" },
  },
});
const [moves] = positionals;
for (const name of ["games", "values", "puzzles", "book"]) {
  if (moves && values[name]) continue;
  console.error(`Expected MOVES.jsonl and --${name} FILE; the first lines of bench/comparison.mjs explain them.`);
  process.exit(1);
}
const minutes = Number(values.minutes);
const at = (name) => join(values.out, name);
mkdirSync(values.out, { recursive: true });

/** What learns from what: the same positions, in the form each family learns most from. */
const FAMILIES = {
  residual: { recipe: "residual", data: "policies", set: ["resultShare=0"], plain: "@none", search: "@mcts" },
  moe: { recipe: "moe-linked", data: "moves", set: [], plain: "@none", search: "@mcts" },
  decoder: { recipe: "decoder-small", data: "policies", set: ["context=1", "boardShare=0.01", "resultShare=0"], plain: "@none", search: "@mcts" }, // biome-ignore format: one family a line
  nnue: { recipe: "nnue-base", data: "children", set: [], plain: "@ab", search: "@ab" }, // ONE_PLY is as little search as it can do
};
const NAMES = Object.keys(FAMILIES);
const ONE_PLY = ["--depth", "1"]; // networks without search need none

/** Runs the program and gives what it prints. */
async function tabiya(...words) {
  const child = spawn(process.execPath, [resolve("dist/cli/main.js"), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  const code = await new Promise((done) => child.on("close", done));
  if (code === 0) return text;
  console.error(`tabiya ${words.join(" ")}\nended with ${code}.`);
  process.exit(1);
}

/** The last line of JSON a command prints; kept, so that it is run once. */
async function asked(name, ...words) {
  const path = at(`${name}.json`);
  if (!existsSync(path)) {
    const text = await tabiya(...words, "--json");
    writeFileSync(`${path}.part`, text.trim().split("\n").at(-1));
    renameSync(`${path}.part`, path);
  }
  return JSON.parse(readFileSync(path, "utf8"));
}

async function prepare() {
  if (!existsSync(at("moves.jsonl"))) await tabiya("data", "split", moves, "-o", at("moves.jsonl"), "--by", "pawns", "--share", "0.02"); // biome-ignore format: one command
  for (const part of ["", ".validation"]) {
    const from = at(`moves${part}.jsonl`);
    if (!existsSync(at(`policies${part}.jsonl`))) await tabiya("data", "convert", from, "-o", at(`policies${part}.jsonl`), "--kind", "policy"); // biome-ignore format: one command
    if (!existsSync(at(`children${part}.bin`))) await tabiya("data", "convert", from, "-o", at(`children${part}.bin`)); // biome-ignore format: one command
  }
}

const linesOf = (run) =>
  readFileSync(join(run, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

async function train(family, run, positions) {
  const { recipe, data, set } = FAMILIES[family];
  const suffix = data === "children" ? "bin" : "jsonl";
  const { records } = JSON.parse(await tabiya("data", "info", at(`${data}.${suffix}`), "--json"));
  const epochs = Math.ceil(positions / records);
  const settings = [...set, "threads=1", `epochs=${epochs}`, `epochPositions=${Math.floor(positions / epochs)}`, "validationLimit=2000", "schedule=cosine", "finalRate=0.01"]; // biome-ignore format: one list
  await tabiya("train", recipe, "--run", run, "--data", at(`${data}.${suffix}`), "--validation", at(`${data}.validation.${suffix}`), "--set", ...settings, "--json"); // biome-ignore format: one command
}

/** A short run tells how many positions fit into the time; the real one then sees as many, and its rate falls to nothing in time. */
async function trained(family) {
  const run = at(family);
  const done = at(`${family}.done`);
  if (!existsSync(done)) {
    for (const old of [run, `${run}-probe`]) rmSync(old, { recursive: true, force: true });
    const first = FAMILIES[family].data === "children" ? 1_000_000 : 6_000;
    await train(family, `${run}-probe`, first);
    const rate = rateOf(`${run}-probe`);
    await train(family, run, Math.round(rate * minutes * 60));
    writeFileSync(done, "");
  }
  const lines = linesOf(run);
  const { epochs, epochPositions } = JSON.parse(readFileSync(join(run, "config.json"), "utf8"));
  return {
    run,
    positions: epochs * epochPositions,
    rate: rateOf(run),
    loss: lines.findLast(({ kind }) => kind === "validation").values.loss,
  };
}

/** Positions a second, without what a start takes. */
function rateOf(run) {
  const last = linesOf(run).findLast(({ kind }) => kind === "train");
  if (last) return last.values.positionsPerSecond;
  console.error(`${run}: too few positions to tell how fast it learns; MOVES.jsonl needs some 10,000.`);
  process.exit(1);
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const table = (head, rows) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** Puzzles solved by rating, a line for each family. */
function figure(bands) {
  const [width, height, left, bottom] = [640, 360, 48, 40];
  const ratings = [...new Set(Object.values(bands).flat().filter(({ total }) => total >= 20).map(({ from }) => from))].sort((a, b) => a - b); // biome-ignore format: one thought
  const x = (from) => left + ((ratings.indexOf(from) + 0.5) / ratings.length) * (width - left - 110);
  const y = (share) => (height - bottom) * (1 - share) + 10 * share;
  const colours = { residual: "#3b6ea8", moe: "#b5562b", decoder: "#5a8a3c", nnue: "#7a4f9e" };
  const lines = NAMES.map((name, i) => {
    const points = bands[name].filter(({ from }) => ratings.includes(from)).map(({ from, accuracy }) => [x(from), y(accuracy)]); // biome-ignore format: one thought
    const path = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");
    return `<polyline points="${path}" fill="none" stroke="${colours[name]}" stroke-width="2.5"/>
<text x="${width - 96}" y="${28 + 20 * i}" fill="${colours[name]}">${name}</text>`;
  });
  const marks = [0, 0.25, 0.5, 0.75, 1].map(
    (share) => `<line x1="${left}" x2="${width - 110}" y1="${y(share)}" y2="${y(share)}" stroke="#ccc"/>
<text x="${left - 8}" y="${y(share) + 4}" text-anchor="end">${100 * share} %</text>`,
  );
  const names = ratings.map((from) => `<text x="${x(from)}" y="${height - bottom + 18}" text-anchor="middle">${from}</text>`); // biome-ignore format: one thought
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" fill="#444">
<rect width="${width}" height="${height}" fill="#fff"/>
${[...marks, ...names, ...lines].join("\n")}
<text x="${left}" y="${height - 6}">puzzles solved without search, by rating (from; 200 points a band)</text>
</svg>
`;
}

await prepare();
const found = {};
for (const name of NAMES) {
  const { run, ...training } = await trained(name);
  const player = `${run}${FAMILIES[name].plain}`;
  const [most, bytes] = [values.limit, weightBytes(run)];
  found[name] = {
    ...training,
    bytes,
    ranking: await asked(
      `${name}-ranking`,
      "agreement",
      player,
      at("moves.validation.jsonl"),
      "--limit",
      most,
      ...ONE_PLY,
    ),
    games: await asked(`${name}-games`, "agreement", player, values.games, "--limit", most, "--top", "5", ...ONE_PLY),
    values: await asked(`${name}-values`, "agreement", player, values.values, "--limit", most, ...ONE_PLY),
    puzzles: await asked(`${name}-puzzles`, "puzzles", player, values.puzzles, "--limit", most, ...ONE_PLY),
    speed: await asked(`${name}-speed`, "bench", "infer", run, "--threads", "1"),
  };
}

function weightBytes(run) {
  const folder = readdirSync(run).find((name) => existsSync(join(run, name, "model.safetensors")));
  return statSync(join(run, folder, "model.safetensors")).size;
}

const book = ["--openings", values.book, "--shuffle", "--rounds", values.rounds, "--max-moves", "150", "--draw", "60,8,15", "--material", "9,8"]; // biome-ignore format: one list
const plain = await asked("plain", "tournament", ...NAMES.map((name) => at(name) + FAMILIES[name].plain), "random", ...book, ...ONE_PLY); // biome-ignore format: one command
const search = await asked("search", "tournament", ...NAMES.map((name) => at(name) + FAMILIES[name].search), ...book, "--movetime", values.movetime); // biome-ignore format: one command
const eloOf = ({ players }, name) => {
  const { rating, error } = players.find((player) => player.name.startsWith(`${at(name)}@`)); // they stand in order of rating
  return `${rating.toFixed(0)}${error === null ? "" : ` +- ${error.toFixed(0)}`}`;
};

writeFileSync(at("puzzles.svg"), figure(Object.fromEntries(NAMES.map((name) => [name, found[name].puzzles.byRating]))));
console.log(`${cpus()[0].model}, one thread each, ${minutes} minutes of training each\n`);
console.log(
  table(
    ["", ...NAMES],
    [
      ["positions seen", ...NAMES.map((name) => found[name].positions.toLocaleString("en"))],
      ["positions/s while training", ...NAMES.map((name) => found[name].rate.toFixed(0))],
      ["its own loss (not comparable)", ...NAMES.map((name) => found[name].loss.toFixed(4))],
      ["bytes of the weights", ...NAMES.map((name) => found[name].bytes.toLocaleString("en"))],
      ["microseconds an evaluation, one at a time", ...NAMES.map((name) => latency(found[name].speed).toFixed(1))],
      ["best move of valued positions", ...NAMES.map((name) => percent(found[name].ranking.moveMatch))],
      ["Kendall's tau of their ranking", ...NAMES.map((name) => found[name].ranking.kendallTau.toFixed(3))],
      ["winning chance lost a move", ...NAMES.map((name) => percent(found[name].ranking.regret))],
      ["move played in games, top-1", ...NAMES.map((name) => percent(found[name].games.moveMatch))],
      ["value off [%eval] (MAE, -1 to 1)", ...NAMES.map((name) => found[name].values.valueMae.toFixed(3))],
      ["calibration off", ...NAMES.map((name) => percent(found[name].values.calibrationError))],
      ["puzzles solved", ...NAMES.map((name) => percent(found[name].puzzles.accuracy))],
      ["Elo without search", ...NAMES.map((name) => eloOf(plain, name))],
      [`Elo with search, ${values.movetime} ms a move`, ...NAMES.map((name) => eloOf(search, name))],
    ],
  ),
);

function latency({ networks: [{ positionMs, evaluationsPerSecond }] }) {
  return positionMs === undefined ? 1e6 / evaluationsPerSecond : 1000 * positionMs;
}
