import { setTimeout as sleep } from "node:timers/promises";
import { formatFen, formatSan, parseFen, parseSan, perft, START_FEN } from "#chess";
import { drawBoard } from "./board.js";
import { command } from "./command.js";

// Morphy against the Duke of Brunswick and Count Isouard, Paris 1858
const OPERA =
  "e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#";

export default command({
  name: "tour",
  summary: "See the parts that work, in half a minute.",
  examples: ["tabiya tour", "tabiya tour --fast"],
  options: { fast: { type: "boolean", help: "without pauses" } },

  async run({ fast }, { print, json, signal }) {
    const color = !json && process.stdout.isTTY && !process.env.NO_COLOR;
    const pause = (ms: number) => (fast || !color ? Promise.resolve() : sleep(ms, undefined, { signal }));

    print("Tabiya: from a file of games to a network that plays.\n");
    print("1. The rules of chess, compiled to WebAssembly");
    const start = parseFen(START_FEN);
    perft(start, 4); // warms up
    const began = performance.now();
    const nodes = perft(start, 5);
    const rate = nodes / 1e3 / (performance.now() - began);
    print(`   ${nodes.toLocaleString("en")} lines of five plies counted, ${rate.toFixed(0)} million a second.\n`);
    await pause(800);

    print("2. A game, read from its notation");
    const position = parseFen(START_FEN);
    for (const [i, san] of OPERA.split(" ").entries()) {
      const move = parseSan(position, san);
      if (move === undefined) throw new Error(`internal: ${san} is not legal in ${formatFen(position)}`);
      const written = formatSan(position, move);
      position.play(move);
      if (!color) continue;
      if (i > 0) process.stdout.write("\x1b[10A");
      print(
        `   ${`${Math.floor(i / 2) + 1}${i % 2 ? "..." : "."} ${written}`.padEnd(20)}\n${drawBoard(position, true)}`,
      );
      await pause(220);
    }
    if (!color) print(drawBoard(position, false));
    const outcome = position.outcome();
    print(`   ${outcome?.reason}, ${outcome?.winner} wins.\n`);

    print("Next: tabiya --help lists every command, README.md shows how to use the parts as a library.");
    return { nodes, outcome };
  },
});
