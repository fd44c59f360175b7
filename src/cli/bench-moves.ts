import { Random } from "#base";
import { type Position, parseFen, START_FEN } from "#chess";
import { FEN_TOKENS, MOVE_TABLES } from "#encodings";
import { encodeActionInput, loadNetwork, MOE_SIZES, Moe } from "#models";
import { exportOnnx, input, Session } from "#tensor";
import { findWeights } from "#training";
import { command } from "./command.js";

const PAIRS = 64; // positions with one move each in a run, where every move has a position of its own

interface Asked {
  tokens: Int32Array; // 77
  actions: Int32Array;
}

/** Positions of games of chance, as the network sees them, with all their legal moves. */
function randomPositions(count: number, turned: boolean): Asked[] {
  const random = new Random(1);
  const asked: Asked[] = [];
  let position: Position = parseFen(START_FEN);
  while (asked.length < count) {
    for (let ply = 0; ply < 8; ply++) {
      if (position.outcome()) position = parseFen(START_FEN);
      position.play(random.pick(position.moves()));
    }
    const moves = position.moves();
    if (moves.length < 20 || moves.length > 40) continue; // some 30
    const { tokens, numberOf } = encodeActionInput(position, turned);
    const actions = moves.map((move) => numberOf(MOVE_TABLES.actions1968.encode(position, move)));
    asked.push({ tokens: Int32Array.from(tokens), actions: Int32Array.from(actions) });
  }
  return asked;
}

const open = (net: Moe, n: number | "n", queries: number | "q", threads: number) => {
  const answer = net.forward(input("tokens", [n, FEN_TOKENS], "int32"), input("actions", [n, queries], "int32"));
  return Session.open(exportOnnx({ value: net.values(answer) }), { threads });
};

const join = (parts: readonly Int32Array[]) => Int32Array.from(parts.flatMap((part) => [...part]));

/** All moves of each position in one pass, by a session for as many positions with `queries` moves each. */
async function onePass(session: Session, positions: readonly Asked[], queries: number): Promise<number[]> {
  const actions = new Int32Array(positions.length * queries);
  positions.forEach((each, i) => {
    actions.set(each.actions, i * queries);
  });
  const { value } = await session.run({ tokens: join(positions.map(({ tokens }) => tokens)), actions });
  return positions.flatMap((each, i) => [...(value.data as Float32Array).subarray(i * queries).subarray(0, each.actions.length)]); // biome-ignore format: one thought
}

/** Each move with a position of its own, so many at once. */
async function oneByOne(session: Session, positions: readonly Asked[], atOnce: number): Promise<number[]> {
  const pairs = positions.flatMap(({ tokens, actions }) => [...actions].map((action) => ({ tokens, action })));
  const values: number[] = [];
  for (let start = 0; start < pairs.length; start += atOnce) {
    const some = pairs.slice(start, start + atOnce);
    const actions = Int32Array.from(some, ({ action }) => action);
    const { value } = await session.run({ tokens: join(some.map(({ tokens }) => tokens)), actions });
    values.push(...(value.data as Float32Array));
  }
  return values;
}

/** The best time of each way in milliseconds; the ways take turns. */
async function race(ways: readonly (() => Promise<unknown>)[], rounds: number): Promise<number[]> {
  const best = ways.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++) {
    for (const [i, way] of ways.entries()) {
      const start = performance.now();
      await way();
      best[i] = Math.min(best[i], performance.now() - start);
    }
  }
  return best;
}

const largest = (a: readonly number[], b: readonly number[]) =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

export default command({
  name: "bench moves",
  summary: "Time a moe network on all legal moves of positions: in one pass, against one by one.",
  details:
    "One by one means that every move is asked about with a copy of its position: one at a time, and 64 such pairs at once,\n" +
    "of which the faster counts. The ways take turns, and the best time of each is compared.",
  examples: ["tabiya bench moves", "tabiya bench moves runs/moe --rounds 30 --json"],
  arguments: { checkpoint: { help: "run, checkpoint or file of weights; one of chance if not said", optional: true } },
  options: {
    rounds: { type: "integer", default: 10, minimum: 1, help: "of each way" },
    threads: { type: "integer", default: 0, minimum: 0, help: "0: one per core" },
  },
  async run({ checkpoint, rounds, threads }, io) {
    const loaded = checkpoint === undefined ? undefined : await loadNetwork(await findWeights(checkpoint));
    const net = loaded?.network instanceof Moe ? loaded.network : new Moe(MOE_SIZES.published, new Random(1));
    const results: Record<string, object> = {};
    const single = await open(net, 1, "q", threads);
    const pairs = await open(net, "n", 1, threads);
    for (const count of [1, 64]) {
      const positions = randomPositions(count, net.config.turned);
      const queries = Math.max(...positions.map(({ actions }) => actions.length));
      const whole = count === 1 ? single : await open(net, "n", queries, threads);
      const moves = positions.reduce((sum, { actions }) => sum + actions.length, 0);
      const together = await onePass(whole, positions, queries);
      const difference = Math.max(
        largest(together, await oneByOne(pairs, positions, PAIRS)),
        largest(together, await oneByOne(single, positions, 1)),
      );
      const [onePassMs, batchedMs, aloneMs] = await race(
        [
          () => onePass(whole, positions, queries),
          () => oneByOne(pairs, positions, PAIRS),
          () => oneByOne(single, positions, 1),
        ],
        count === 1 ? 10 * rounds : rounds,
      );
      if (whole !== single) await whole.close();
      const ratio = Math.min(batchedMs, aloneMs) / onePassMs;
      io.print(
        `${count} position${count > 1 ? "s" : ""}, ${moves} moves: ${onePassMs.toFixed(2)} ms in one pass; one by one ${aloneMs.toFixed(1)} ms, ${PAIRS} pairs at once ${batchedMs.toFixed(1)} ms: ${ratio.toFixed(1)} times faster, values differ by ${difference.toExponential(1)}`,
      );
      results[String(count)] = { moves, onePassMs, aloneMs, batchedMs, ratio, maxDifference: difference };
    }
    for (const session of [single, pairs]) await session.close();
    return { network: checkpoint ?? "chance", config: net.config, positions: results };
  },
});
