import { readText, UserError } from "#base";
import { formatUci, parseFen, parsePerftSuite, perft, perftDivide, START_FEN } from "#chess";
import { refuseOther } from "#formats";
import { command, type Io } from "./command.js";

const million = (nodes: number, seconds: number) => `${(nodes / 1e6 / Math.max(seconds, 1e-9)).toFixed(0)} million/s`;

const EXPECTED = 'lines as "FEN ;D1 20 ;D2 400" or "epd FEN"';

/** Runs every line of a suite to its largest depth within the limit and stops at the first wrong count. */
async function runSuite(file: string, limit: number, { note, print, signal }: Io) {
  await refuseOther(file, ["epd", "perft", "txt"], EXPECTED);
  const suite = parsePerftSuite(await readText(file));
  if (suite.length === 0) {
    throw new UserError("SUITE_EMPTY", `${file}: no line with counts found; expected ${EXPECTED}.`);
  }
  let nodes = 0;
  let lines = 0;
  const start = performance.now();
  for (const { fen, counts } of suite) {
    signal.throwIfAborted();
    const largest = counts.filter((count) => count.nodes <= limit).at(-1);
    if (!largest) continue;
    const found = perft(parseFen(fen), largest.depth);
    if (found !== largest.nodes) {
      throw new UserError(
        "PERFT_WRONG",
        `${file}: perft ${largest.depth} of "${fen}" is ${found}, the suite says ${largest.nodes}.`,
      );
    }
    nodes += found;
    lines++;
    await new Promise(setImmediate); // lets Ctrl-C in
    if (lines % 100 === 0) note(`${lines} of ${suite.length} lines, ${(nodes / 1e9).toFixed(1)} billion nodes`);
  }
  if (lines === 0) throw new UserError("SUITE_LIMIT", `${file}: each of its counts is above ${limit} nodes.`);
  const seconds = (performance.now() - start) / 1000;
  print(
    `${lines} of ${suite.length} lines right, ${nodes} nodes in ${seconds.toFixed(1)} s (${million(nodes, seconds)})`,
  );
  return { lines, nodes, seconds };
}

export default command({
  name: "perft",
  summary: "Count legal move sequences, to check the move generator.",
  examples: [
    "tabiya perft 6",
    'tabiya perft 5 --fen "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq -" --divide',
    "tabiya perft --suite perftsuite.epd",
  ],
  arguments: { depth: { type: "integer", help: "depth in plies", optional: true } },
  options: {
    fen: { default: START_FEN, help: "position to start from" },
    chess960: { type: "boolean", help: "the position is of Chess960: castling is king takes rook" },
    divide: { type: "boolean", help: "count for each first move" },
    suite: { help: "check every line of an EPD or .perft suite instead" },
    limit: { type: "number", minimum: 1, help: "with --suite: skip depths with more nodes" },
  },

  run({ depth, fen, chess960, divide, suite, limit }, io) {
    if (suite !== undefined) return runSuite(suite, limit ?? Infinity, io);
    if (depth === undefined) throw new UserError("PERFT_DEPTH", "perft needs a depth, e.g. tabiya perft 6");
    const position = parseFen(fen, { chess960 });
    const start = performance.now();
    const moves: Record<string, number> = {};
    let nodes = 0;
    if (divide && depth > 0) {
      for (const { move, nodes: below } of perftDivide(position, depth)) {
        moves[formatUci(position, move)] = below;
        nodes += below;
        io.print(`${formatUci(position, move)}: ${below}`);
      }
    } else {
      nodes = perft(position, depth);
    }
    const seconds = (performance.now() - start) / 1000;
    io.print(`${nodes} lines of ${depth} plies in ${seconds.toFixed(2)} s (${million(nodes, seconds)})`);
    return divide ? { nodes, seconds, moves } : { nodes, seconds };
  },
});
