import { setTimeout as sleep } from "node:timers/promises";
import { Random, UserError } from "#base";
import { formatSan, type Outcome, type Position, parseFen, perft, START_FEN } from "#chess";
import { encodePlanes13 } from "#encodings";
import { parseGames } from "#formats";
import { input, linear, meanSquaredError, type Tensor, Trainer } from "#tensor";
import { drawBoard } from "./board.js";
import { command, type Io } from "./command.js";
import { trainOnTour } from "./tour-training.js";

const OPERA = `[Event "A night at the opera"]
[Site "Paris"]
[Date "1858.??.??"]
[White "Morphy, Paul"]
[Black "Duke of Brunswick and Count Isouard"]
[Result "1-0"]

1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 10. Nxb5 cxb5
11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0
`;

const POSITIONS = 512;
const STEPS = 60;
const PAWNS = { pawn: 1, knight: 3, bishop: 3, rook: 5, queen: 9, king: 0 };

/** Replays the game, on a board that stays in place where the terminal allows it. */
async function replay(
  color: boolean,
  pause: (ms: number) => Promise<unknown>,
  print: Io["print"],
): Promise<Outcome | undefined> {
  const [game] = await parseGames(OPERA);
  const position = game.start;
  for (const [i, move] of game.moves.entries()) {
    const san = formatSan(position, move);
    position.play(move);
    if (!color) continue;
    if (i > 0) process.stdout.write("\x1b[10A");
    print(
      `   ${`${Math.floor(i / 2) + 1}${i % 2 ? "..." : "."} ${san}`.padEnd(20)}\n${drawBoard(position, { color }).join("\n")}`,
    );
    await pause(200);
  }
  if (!color) print(drawBoard(position, { color }).join("\n"));
  return position.outcome();
}

/** A network of one hidden layer that learns to count material from the planes of a position. */
class Counter {
  readonly hidden;
  readonly output;

  constructor(random: Random) {
    this.hidden = linear(13 * 64, 32, random);
    this.output = linear(32, 1, random);
  }

  /** planes [n, 832] -> who is ahead, -1 to 1 in White's view [n, 1] */
  forward(planes: Tensor): Tensor {
    return this.output.apply(this.hidden.apply(planes).relu()).tanh();
  }
}

/** Positions of random games, and who is ahead in them. */
function examples(random: Random): { planes: Float32Array; ahead: Float32Array } {
  const planes = new Float32Array(POSITIONS * 832);
  const ahead = new Float32Array(POSITIONS);
  let position = parseFen(START_FEN);
  for (let n = 0; n < POSITIONS; n++) {
    for (let ply = 0; ply < 9; ply++) {
      const moves = position.moves();
      if (moves.length === 0) position = parseFen(START_FEN);
      else position.play(random.pick(moves));
    }
    encodePlanes13(position, planes.subarray(n * 832, (n + 1) * 832));
    ahead[n] = Math.tanh(materialWhite(position) / 5);
  }
  return { planes, ahead };
}

function materialWhite(position: Position): number {
  let sum = 0;
  for (const { color, role } of position.pieces()) sum += color === "white" ? PAWNS[role] : -PAWNS[role];
  return sum;
}

async function learn(): Promise<number[]> {
  const random = new Random(7);
  const net = new Counter(random);
  const planes = input("planes", ["n", 832]);
  const ahead = input("ahead", ["n", 1]);
  const loss = meanSquaredError(net.forward(planes), ahead).mean();
  const trainer = await Trainer.open({ model: net, loss, optimiser: { name: "adamw" }, learningRate: 3e-3 });
  try {
    const batch = examples(random);
    const losses: number[] = [];
    for (let step = 0; step < STEPS; step++) losses.push((await trainer.step(batch)).loss);
    return losses;
  } finally {
    await trainer.close();
  }
}

export default command({
  name: "tour",
  summary: "A tour of what the program can do, in half a minute.",
  details: "With --train: from a file of games to a network that plays, in a minute or two; it is kept in runs/tour.",
  examples: ["tabiya tour", "tabiya tour --fast", "tabiya tour --train"],
  options: {
    fast: { type: "boolean", help: "without pauses" },
    train: { type: "boolean", help: "train a network on the built-in games, and let it play" },
  },

  async run({ fast, train }, io) {
    if (train) return trainOnTour(io);
    const { print, json, signal } = io;
    const color = !json && process.stdout.isTTY && !process.env.NO_COLOR;
    const pause = (ms: number) => (fast || !color ? Promise.resolve() : sleep(ms, undefined, { signal }));

    print("Tabiya: from a file of games to a network that plays.\n");
    print("1. The rules of chess, compiled to WebAssembly");
    const start = parseFen(START_FEN);
    perft(start, 5); // warms up
    const began = performance.now();
    const nodes = perft(start, 5);
    const rate = nodes / 1e3 / (performance.now() - began);
    print(`   ${nodes.toLocaleString("en")} lines of five plies counted, ${rate.toFixed(0)} million a second.\n`);
    await pause(800);

    print("2. A game, read from PGN");
    const outcome = await replay(color, pause, print);
    print(`   ${outcome?.reason}, ${outcome?.winner} wins.\n`);
    await pause(800);

    print("3. A network, defined and trained in TypeScript");
    const losses = await learn().catch((error: unknown) => {
      if (!(error instanceof UserError) || error.code !== "RUNTIME_MISSING") throw error;
      print(`   ${error.message.replaceAll("\n", "\n   ")}\n`);
      return [];
    });
    const [first, last] = [losses[0], losses[losses.length - 1]];
    if (losses.length > 0)
      print(`   Counting material: error ${first.toFixed(3)} -> ${last.toFixed(3)} in ${STEPS} steps.\n`);

    print(
      "Next: tabiya tour --train goes from games to a network that plays, tabiya --help lists every command, README.md shows what they do.",
    );
    return { nodes, outcome, firstLoss: first, lastLoss: last };
  },
});
