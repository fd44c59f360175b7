import { listGames, playContest, roundRobin } from "#arena";
import { startProcess } from "#base";
import { START_FEN } from "#chess";
import { resolvePlayer } from "#engine";
import { command } from "../command.js";

/** An engine that answers at once: its knights go out and back, which is a draw by repetition after 8 plies. */
const INSTANT = `
let plies = 0, rest = "";
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    if (line === "uci") process.stdout.write("uciok\\n");
    else if (line === "isready") process.stdout.write("readyok\\n");
    else if (line.startsWith("position")) plies = line.includes(" moves ") ? line.split(" moves ")[1].split(" ").length : 0;
    else if (line.startsWith("go")) process.stdout.write("bestmove " + ["g1f3", "g8f6", "f3g1", "f6g8"][plies % 4] + "\\n");
    else if (line === "quit") process.exit(0);
  }
});`;

/** Milliseconds for a question and its answer through the same pipes, without any arena: the peer to compare with. */
async function roundTripMs(times: number): Promise<number> {
  let answered: () => void = () => {};
  const engine = await startProcess(process.execPath, ["-e", INSTANT], { onLine: () => answered(), onEnd() {} });
  const ask = () =>
    new Promise<void>((resolve) => {
      answered = resolve;
      engine.write("position startpos\ngo nodes 1\n");
    });
  for (let i = 0; i < 200; i++) await ask();
  const start = performance.now();
  for (let i = 0; i < times; i++) await ask();
  const elapsed = performance.now() - start;
  engine.kill();
  return elapsed / times;
}

export default command({
  name: "bench arena",
  summary: "Measure the overhead of a match apart from thinking: time per move, and memory over many games.",
  examples: ["tabiya bench arena", "tabiya bench arena --games 10000 --json"],
  options: {
    games: { type: "integer", minimum: 10, default: 10_000, help: "games of an engine that answers at once" },
  },

  async run({ games }, io) {
    const player = `uci:${encodeURIComponent(process.execPath)} -e ${encodeURIComponent(INSTANT)}`;
    const before = await roundTripMs(2000);
    const megabytes: number[] = []; // after each tenth of the games
    let done = 0;
    let moves = 0;
    const start = performance.now();
    await playContest({
      games: listGames(roundRobin(2, Math.ceil(games / 2)), games),
      create: () => resolvePlayer(player),
      opening: () => ({ fen: START_FEN, moves: [], chess960: false }),
      conditions: { limits: { nodes: 1 }, marginMs: 0, adjudication: {} },
      concurrency: 1,
      seed: 1,
      signal: io.signal,
      async onGame(_, record) {
        moves += record.moves.length;
        done++;
        io.progress(`${done}/${games} games`);
        if (done % Math.floor(games / 10) === 0) megabytes.push(process.memoryUsage().rss / 2 ** 20);
        return undefined;
      },
    });
    const moveMs = (performance.now() - start) / moves;
    const pipeMs = Math.min(before, await roundTripMs(2000));
    const overheadMs = moveMs - pipeMs;
    io.print(
      `${moveMs.toFixed(3)} ms a move, ${pipeMs.toFixed(3)} of it the two pipes: the arena takes ${overheadMs.toFixed(3)} ms.\n` +
        `memory after each tenth of ${games} games, in MB: ${megabytes.map((size) => size.toFixed(0)).join(" ")}`,
    );
    return { games, moves, moveMs, pipeMs, overheadMs, megabytes };
  },
});
