import assert from "node:assert/strict";
import { test } from "vitest";
import { parseFen } from "#chess";
import { createAlphaBeta } from "#engine";
import { browserPath, runInPage } from "./page.js";

/** Lets the search worker play in a page; with a network of chance, and without one. */
const search = (options: string) => `
  import { formatUci, parseFen } from "#chess";
  import { nnueImage, syntheticWide } from "#models";
  import { AlphaBeta } from "#search";

  async function play(options, limits) {
    const search = await AlphaBeta.create(options);
    const position = parseFen("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1");
    const { lines, nodes } = await search.search(position, limits);
    const stopped = (await search.search(position, {}, { signal: AbortSignal.timeout(100) })).lines.length;
    await search.close();
    return { move: formatUci(position, lines[0].pv[0]), score: lines[0].scoreCp, threads: search.threads, nodes, stopped };
  }
  export default Promise.all([
    play({ ${options} }, { depth: 6 }),
    play({ ${options}, image: nnueImage(syntheticWide(1)) }, { depth: 4 }),
  ]).then((games) => ({ isolated: crossOriginIsolated, games }));
`;

interface Played {
  isolated: boolean;
  games: { move: string; score: number; threads: number; nodes: number; stopped: number }[];
}

test.skipIf(browserPath === undefined)(
  "the search worker mates in a page without shared memory, and can be stopped",
  async () => {
    const { isolated, games } = (await runInPage(search("threads: 2"))) as Played;
    assert.equal(isolated, false);
    for (const { move, score, threads, stopped } of games) {
      assert.deepEqual({ move, score, threads, stopped }, { move: "a1a8", score: 31_999, threads: 1, stopped: 1 });
    }
  },
);

test.skipIf(browserPath === undefined)(
  "in a page isolated from other origins two threads share the memory",
  async () => {
    const { isolated, games } = (await runInPage(search("threads: 2"), { isolated: true })) as Played;
    assert.equal(isolated, true);
    for (const { move, score, threads, stopped } of games) {
      assert.deepEqual({ move, score, threads, stopped }, { move: "a1a8", score: 31_999, threads: 2, stopped: 1 });
    }
  },
);

const MIDDLEGAME = "r1bq1rk1/pp2ppbp/5np1/n2p4/3P1B1P/1QN1PN2/PP3PP1/R3KB1R w KQ - 3 10";

test.skipIf(browserPath === undefined)("the shipped network searches the same nodes in a page as in Node", async () => {
  const inPage = await runInPage(`
      import { parseFen } from "#chess";
      import { createAlphaBeta } from "#engine";

      const { search, evaluation } = await createAlphaBeta("nnue");
      const { nodes, lines } = await search.search(parseFen("${MIDDLEGAME}"), { depth: 10 });
      await search.close();
      export default { evaluation, nodes, scoreCp: lines[0].scoreCp };
    `);
  const { search, evaluation } = await createAlphaBeta("nnue");
  try {
    const { nodes, lines } = await search.search(parseFen(MIDDLEGAME), { depth: 10 });
    assert.match(evaluation, /\.tnn/);
    assert.deepEqual(inPage, { evaluation, nodes, scoreCp: lines[0].scoreCp });
  } finally {
    await search.close();
  }
});
