import { BENCH_DEPTH, createAlphaBeta, runBench } from "#engine";
import { command } from "../command.js";

export default command({
  name: "bench search",
  summary: "Count the nodes of fifty positions at a fixed depth: the signature of the search, and its speed.",
  details:
    "On one thread the count is the same on every machine; a commit that changes it says so. Without a network the one " +
    "that comes with the program is used: that is the signature of record; builtin is the evaluation written by hand.",
  examples: ["tabiya bench search", "tabiya bench search net.nnue --threads 2 --json"],
  arguments: { net: { help: "a network file", optional: true } },
  options: {
    depth: { type: "integer", default: BENCH_DEPTH, minimum: 1, help: "plies" },
    threads: {
      type: "integer",
      default: 1,
      minimum: 1,
      help: "threads of the search; with more than one the count varies",
    },
    passes: {
      type: "integer",
      default: 3,
      minimum: 1,
      help: "repetitions; the fastest and the median are printed",
    },
    hash: { type: "integer", default: 16, minimum: 1, help: "MB of the transposition table" },
  },
  async run({ net = "nnue", depth, threads, passes, hash }, { print, note, signal }) {
    const { search, evaluation } = await createAlphaBeta(net, { threads, hashMb: hash });
    note(`evaluates with ${evaluation}`);
    try {
      const result = await runBench(search, depth, passes, () => signal.aborted);
      signal.throwIfAborted();
      print(
        `${result.signature} nodes, ${result.seconds.toFixed(2)} s, ${(result.nps / 1000).toFixed(0)} thousand nodes/s ` +
          `in the fastest of ${passes} passes, ${(result.medianNps / 1000).toFixed(0)} thousand in the median`,
      );
      return { ...result, depth, threads, evaluation };
    } finally {
      await search.close();
    }
  },
});
