import { parseFen, START_FEN } from "#chess";
import { openEvaluator, openNetwork } from "#engine";
import { findWeights, inferenceOf, loadNetwork, randomPositions } from "#models";
import { type Evaluator, MCTS_OPTIONS, Mcts, parseOptionValues } from "#search";
import type { Feeds, Session } from "#tensor";
import { command } from "../command.js";

// Of the opening, the middlegame and the endgame.
const POSITIONS = [
  START_FEN,
  "r1bq1rk1/pp2ppbp/5np1/n2p4/3P1B1P/1QN1PN2/PP3PP1/R3KB1R w KQ - 3 10",
  "r2q1rk1/pb3pbp/1p1p2p1/4p3/2PnP3/2N1B3/PP1Q1PPP/1B1R1RK1 b - - 3 14",
  "8/pR6/2p5/5k2/1P1P3p/5K2/2n4P/8 w - - 1 40",
];

const WARM_UP = "r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2N2N2/PPPP1PPP/R1BQK2R w KQkq - 6 5"; // far from all of them

/** Processor time of this process so far, all threads: what other programs cannot slow down. */
function cpuTimeMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const areFloats = (feeds: Feeds): boolean => Object.values(feeds).every((feed) => feed instanceof Float32Array);

/** The same feeds in memory that is lent and comes back, as a search hands them over. */
function copyInto(feeds: Feeds, session: Session): Feeds {
  const copies = Object.entries(feeds).map(([name, feed]) => {
    const copy = session.room((feed as Float32Array).length);
    copy.set(feed as Float32Array);
    return [name, copy];
  });
  return Object.fromEntries(copies);
}

/** The network with nothing around it: runs of the given sizes one after another, two under way, again and again. */
async function openBare(net: string, batch: number, threads: number) {
  const { family, network } = await loadNetwork(await findWeights(net));
  const inference = inferenceOf(family, network);
  const { session, modelFor } = await openNetwork(inference, { threads });
  const positions = randomPositions(batch, 1);
  const feeds = new Map<number, ReturnType<typeof inference.feeds>>();
  const run = async (size: number) => {
    const batches = feeds.get(size) ?? inference.feeds(positions.slice(0, size));
    feeds.set(size, batches);
    const model = modelFor(size);
    await Promise.all(
      batches.map((batch) =>
        session.run(areFloats(batch) ? copyInto(batch, session) : batch, { model, lend: areFloats(batch) }),
      ),
    );
  };
  await run(batch);
  return {
    /** Runs all sizes once, and again until the time is over: the first ones alone are those of a young tree. */
    async time(sizes: readonly number[], ms: number): Promise<{ evaluations: number; ms: number }> {
      const start = performance.now();
      let [evaluations, next] = [0, 0];
      const isOver = () => next > 0 && next % sizes.length === 0 && performance.now() - start >= ms;
      const keepBusy = async () => {
        while (!isOver()) {
          const size = sizes[next++ % sizes.length];
          await run(size);
          evaluations += size;
        }
      };
      await Promise.all([keepBusy(), keepBusy()]);
      return { evaluations, ms: performance.now() - start };
    },
    close: () => session.close(),
  };
}

export default command({
  name: "bench mcts",
  summary: "Time the tree search: evaluations a second, and what share that is of the bare network's speed.",
  details:
    "Searches and bare runs of the network, in batches of the same sizes, take turns, so that other work on the machine\n" +
    "slows down both; processor time does not depend on it. Evaluations are positions the network was run on; simulations are more, as some end in proven\n" +
    "results or in positions it remembers.",
  examples: ["tabiya bench mcts maia-1900.pb.gz", "tabiya bench mcts runs/a --nodes 800 --set batch=64 --json"],
  arguments: { net: { help: "a network file, run or checkpoint" } },
  options: {
    nodes: { type: "integer", default: 2000, minimum: 10, help: "simulations of each search" },
    rounds: { type: "integer", default: 1, minimum: 1, help: "times each of the four positions is searched" },
    threads: { type: "integer", default: 0, minimum: 0, help: "the network computes with; 0: one per core" },
    set: { type: "strings", help: "options of the search, as batch=64 (docs/mcts.md)" },
  },
  async run({ net, nodes, rounds, threads, set = [] }, { print, progress, signal }) {
    const pairs = set.map((text) => text.split("=") as [string, string]);
    const settings = parseOptionValues("bench mcts", MCTS_OPTIONS, pairs);
    const evaluator = await openEvaluator(net, { threads });
    const batch = settings.batch || evaluator.batchSize;
    const bare = await openBare(net, batch, threads);
    const sizes: number[] = []; // of the batches of a search
    const watched: Evaluator = {
      ...evaluator,
      evaluate(positions) {
        sizes.push(positions.length);
        return evaluator.evaluate(positions);
      },
    };
    const search = new Mcts(watched, settings);
    const sums = { ms: 0, simulations: 0, evaluations: 0, batches: 0, collisions: 0, recalled: 0, ends: 0 };
    const alone = { ms: 0, evaluations: 0 };
    const full = { ms: 0, evaluations: 0 }; // the same in batches as large as the network likes best
    const cpuMs = { search: 0, bare: 0 };
    try {
      // Several lines: no early end. A time, however long: batches are used in the order in which they come back, as in games.
      const limits = { nodes, multiPv: 2, moveTimeMs: 3_600_000 };
      await search.search(parseFen(WARM_UP), limits, { signal }); // until everything is compiled
      for (let i = 0; i < rounds * POSITIONS.length && !signal.aborted; i++) {
        await search.clear();
        sizes.length = 0;
        const before = cpuTimeMs();
        const position = parseFen(POSITIONS[i % POSITIONS.length]);
        const { counts, timeMs } = await search.search(position, limits, { signal });
        const between = cpuTimeMs();
        sums.ms += timeMs;
        for (const key of ["simulations", "evaluations", "batches", "collisions", "recalled", "ends"] as const)
          sums[key] += counts[key];
        const { evaluations, ms } = await bare.time(sizes, timeMs / 2);
        alone.evaluations += evaluations;
        alone.ms += ms;
        cpuMs.search += between - before;
        cpuMs.bare += cpuTimeMs() - between;
        const whole = await bare.time([batch], timeMs / 4);
        full.evaluations += whole.evaluations;
        full.ms += whole.ms;
        progress(`${i + 1} of ${rounds * POSITIONS.length} searches`);
      }
    } finally {
      await search.close();
      await evaluator.close();
      await bare.close();
    }
    signal.throwIfAborted();
    const perSecond = (count: number, ms: number) => Math.round((1000 * count) / ms);
    const result = {
      net,
      nodes,
      threads,
      evaluationsPerSecond: perSecond(sums.evaluations, sums.ms),
      simulationsPerSecond: perSecond(sums.simulations, sums.ms),
      bareEvaluationsPerSecond: perSecond(alone.evaluations, alone.ms),
      fullBatchEvaluationsPerSecond: perSecond(full.evaluations, full.ms),
      shareOfBare: Number((sums.evaluations / sums.ms / (alone.evaluations / alone.ms)).toFixed(3)),
      cpuUsPerEvaluation: Math.round((1000 * cpuMs.search) / sums.evaluations),
      bareCpuUsPerEvaluation: Math.round((1000 * cpuMs.bare) / alone.evaluations),
      batchSize: batch,
      meanBatch: Number((sums.evaluations / sums.batches).toFixed(1)),
      collisions: sums.collisions,
      recalled: sums.recalled,
      ends: sums.ends,
      simulations: sums.simulations,
    };
    print(
      `${result.evaluationsPerSecond} evaluations/s in batches of ${result.meanBatch}, ` +
        `${(100 * result.shareOfBare).toFixed(1)} % of the network alone in the same batches (${result.bareEvaluationsPerSecond}/s; ` +
        `${result.fullBatchEvaluationsPerSecond}/s in batches of ${batch})`,
    );
    print(
      `${result.cpuUsPerEvaluation} microseconds of processor time an evaluation, ${result.bareCpuUsPerEvaluation} of the network alone`,
    );
    print(
      `${result.simulationsPerSecond} simulations/s; of ${sums.simulations}, ${sums.recalled} were remembered and ` +
        `${sums.ends} ended in proven results; ${sums.collisions} collisions`,
    );
    return result;
  },
});
