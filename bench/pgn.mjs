// Times our PGN reader against pgn-extract and chessops on the same file in the same run, every move checked by each:
//   node bench/pgn.mjs games.pgn [rounds]
// The runs take turns and the best of each counts. Prints one JSON object. Needs `npm run build` and pgn-extract.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { parsePgn, startingPosition } from "chessops/pgn";
import { parseSan } from "chessops/san";
import { openBytes } from "#base";
import { readGameBlocks } from "#formats";

const [file, rounds = "5"] = process.argv.slice(2);
if (!file) {
  console.error("usage: node bench/pgn.mjs games.pgn [rounds]");
  process.exit(1);
}

async function ours() {
  const counts = { games: 0, plies: 0 };
  for await (const block of readGameBlocks(await openBytes(file), { source: file })) {
    counts.games += block.length;
    counts.plies += block.slots - block.length;
  }
  return counts;
}

function chessops() {
  const counts = { games: 0, plies: 0 };
  for (const game of parsePgn(readFileSync(file, "utf8"))) {
    const position = startingPosition(game.headers).unwrap();
    for (const node of game.moves.mainline()) {
      const move = parseSan(position, node.san);
      if (!move) throw new Error(`chessops does not understand ${node.san}`);
      position.play(move);
      counts.plies++;
    }
    counts.games++;
  }
  return counts;
}

function run(program, ...args) {
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/games` };
  const { status, error, stdout } = spawnSync(program, args, { stdio: ["ignore", "pipe", "ignore"], env });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? `exit code ${status}`}`);
  return stdout;
}

/** The whole command, with the start of Node and the compilation of the module. */
const command = () => {
  const { games, plies } = JSON.parse(run(process.execPath, "dist/cli/main.js", "pgn", "check", "--json", file));
  return { games, plies };
};

const contenders = {
  tabiya: ours,
  "tabiya pgn check": command,
  "pgn-extract": () => run("pgn-extract", "-s", "-Wuci", "-o", "/dev/null", file) && undefined,
  chessops,
};

const seconds = {};
let expected;
for (let round = 0; round < Number(rounds); round++) {
  for (const [name, contender] of Object.entries(contenders)) {
    if (name === "chessops" && round > 1) continue; // a dozen seconds each, and long warm by then
    const start = performance.now();
    const counts = await contender();
    seconds[name] = Math.min(seconds[name] ?? Number.POSITIVE_INFINITY, (performance.now() - start) / 1000);
    expected ??= counts;
    if (counts && JSON.stringify(counts) !== JSON.stringify(expected))
      throw new Error(`${name} counts ${JSON.stringify(counts)}, expected ${JSON.stringify(expected)}`);
  }
}
const ratio = (peer, us) => Number((seconds[peer] / seconds[us]).toFixed(2));
const { size } = await openBytes(file);
console.log(
  JSON.stringify({
    ...expected,
    seconds,
    megabytesPerSecond: Number((size / 1e6 / seconds.tabiya).toFixed(1)),
    ratioToPgnExtract: ratio("pgn-extract", "tabiya"),
    ratioToPgnExtractWholeCommand: ratio("pgn-extract", "tabiya pgn check"),
    ratioToChessops: ratio("chessops", "tabiya"),
  }),
);
