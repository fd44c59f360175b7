import { startProcess, UserError } from "#base";
import { parseFen, perft, START_FEN } from "#chess";
import { command } from "../command.js";

/** Seconds an engine needs from `go perft` to its answer, start-up not counted; it generates the last ply as we do. */
function peerSeconds(program: string, depth: number, nodes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let start = 0;
    const fail = (what: string) => reject(new UserError("PEER_WRONG", `${program}: ${what}`));
    const started = startProcess(program, [], {
      onEnd: () => fail(`ended without answering "go perft ${depth}".`),
      onLine: async (line) => {
        const process = await started;
        if (line === "readyok") {
          start = performance.now();
          process.write(`go perft ${depth}\n`);
        }
        const found = /^Nodes searched: (\d+)/.exec(line);
        if (!found) return;
        const seconds = (performance.now() - start) / 1000;
        process.write("quit\n");
        if (Number(found[1]) === nodes) resolve(seconds);
        else fail(`counted ${found[1]} nodes at depth ${depth}, expected ${nodes}.`);
      },
    });
    started.then((process) => process.write("uci\nsetoption name Threads value 1\nisready\n"), reject);
  });
}

export default command({
  name: "bench core",
  summary: "Time the move generator, alone or alternating with Stockfish.",
  details:
    "Counts perft of the start position on one thread; leaf moves are generated, not only counted. Best of the rounds.",
  examples: ["tabiya bench core", "tabiya bench core --against stockfish --json"],
  options: {
    against: { help: "a UCI engine that knows `go perft`, e.g. stockfish" },
    depth: { type: "integer", default: 6, minimum: 1, help: "plies" },
    rounds: { type: "integer", default: 5, minimum: 1, help: "runs of each, alternating" },
  },

  async run({ against, depth, rounds }, { print, signal }) {
    const position = parseFen(START_FEN);
    const nodes = perft(position, depth); // warms the code up
    let seconds = Number.POSITIVE_INFINITY;
    let peer = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round++) {
      signal.throwIfAborted();
      const start = performance.now();
      perft(position, depth);
      seconds = Math.min(seconds, (performance.now() - start) / 1000);
      if (against) peer = Math.min(peer, await peerSeconds(against, depth, nodes));
    }
    const nps = Math.round(nodes / seconds);
    print(`tabiya: perft ${depth}: ${(nps / 1e6).toFixed(0)} million nodes/s`);
    if (!against) return { nodes, nps };
    const peerNps = Math.round(nodes / peer);
    print(`${against}: perft ${depth}: ${(peerNps / 1e6).toFixed(0)} million nodes/s`);
    print(`ratio ${(nps / peerNps).toFixed(2)}`);
    return { nodes, nps, peerNps, ratio: nps / peerNps };
  },
});
