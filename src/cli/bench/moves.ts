import { Random } from "#base";
import { type Position, parseFen, START_FEN } from "#chess";
import { FEN_TOKENS, MOVE_TABLES } from "#encodings";
import { encodeActionInput, findWeights, loadNetwork, MOE_SIZES, Moe } from "#models";
import { exportOnnx, input, Session } from "#tensor";
import { command } from "../command.js";

const POSITIONS = 64;
const PAIRS = 64; // positions with one move each in a run, where every move has a position of its own
const GROUP = 16; // positions in a pass, of like numbers of moves: that spares most of the padding

interface Asked {
  tokens: Int32Array; // 77
  actions: Int32Array;
}

/** Positions of random games, as the network sees them, with all their legal moves. */
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

/** All moves of each position in one pass, or in one for each group of positions; in the order of the positions. */
async function onePass(session: Session, positions: readonly Asked[], group: number): Promise<number[]> {
  const order = [...positions.keys()].sort((a, b) => positions[a].actions.length - positions[b].actions.length);
  const values: number[][] = [];
  for (let start = 0; start < order.length; start += group) {
    const some = order.slice(start, start + group);
    const queries = positions[some[some.length - 1]].actions.length;
    const actions = new Int32Array(group * queries);
    some.forEach((position, row) => {
      actions.set(positions[position].actions, row * queries);
    });
    const tokens = join(some.map((position) => positions[position].tokens));
    const { value } = await session.run({ tokens, actions });
    some.forEach((position, row) => {
      const own = (value.data as Float32Array).subarray(row * queries);
      values[position] = [...own.subarray(0, positions[position].actions.length)];
    });
  }
  return values.flat();
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
async function race(ways: readonly (() => Promise<unknown>)[], rounds: number, signal: AbortSignal): Promise<number[]> {
  const best = ways.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++) {
    for (const [i, way] of ways.entries()) {
      signal.throwIfAborted();
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
  summary: "Time a moe network on all legal moves of a position: in one pass, and one by one.",
  details:
    "One by one means a run of the network for every move. For those who would rather batch, copies of the position with a\n" +
    "move each, 64 such pairs at once, are timed too. The ways take turns, and the best time of each is compared.",
  examples: ["tabiya bench moves", "tabiya bench moves runs/moe --rounds 30 --json"],
  arguments: { checkpoint: { help: "run, checkpoint or file of weights; default: an untrained one", optional: true } },
  options: {
    rounds: { type: "integer", default: 10, minimum: 1, help: "runs of each way" },
    threads: { type: "integer", default: 0, minimum: 0, help: "threads of the network; 0: one per core" },
  },
  async run({ checkpoint, rounds, threads }, io) {
    const loaded = checkpoint === undefined ? undefined : await loadNetwork(await findWeights(checkpoint));
    const net = loaded?.network instanceof Moe ? loaded.network : new Moe(MOE_SIZES.published, new Random(1));
    const [single, pairs, grouped] = [
      await open(net, 1, "q", threads),
      await open(net, "n", 1, threads),
      await open(net, GROUP, "q", threads),
    ];
    const results: Record<string, object> = {};
    for (const count of [1, POSITIONS]) {
      const positions = randomPositions(count, net.config.turned);
      const moves = positions.reduce((sum, { actions }) => sum + actions.length, 0);
      const whole = () => (count === 1 ? onePass(single, positions, 1) : onePass(grouped, positions, GROUP));
      const ways = [whole, () => oneByOne(pairs, positions, PAIRS), () => oneByOne(single, positions, 1)];
      const [together, ...others] = await Promise.all(ways.map((way) => way()));
      const maxDifference = Math.max(...others.map((values) => largest(together, values)));
      const [onePassMs, pairsMs, aloneMs] = await race(ways, count === 1 ? 10 * rounds : rounds, io.signal);
      const [ratio, pairsRatio] = [aloneMs / onePassMs, pairsMs / onePassMs];
      io.print(
        `${count} position${count > 1 ? "s" : ""}, ${moves} moves: ${onePassMs.toFixed(2)} ms in one pass; one by one ${aloneMs.toFixed(1)} ms, ${ratio.toFixed(1)} times as long; ${PAIRS} pairs at once ${pairsMs.toFixed(1)} ms, ${pairsRatio.toFixed(1)} times; values differ by ${maxDifference.toExponential(1)}`,
      );
      results[String(count)] = { moves, onePassMs, aloneMs, ratio, pairsMs, pairsRatio, maxDifference };
    }
    for (const session of [single, pairs, grouped]) await session.close();
    return { network: checkpoint ?? "chance", config: net.config, positions: results };
  },
});
