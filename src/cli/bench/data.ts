import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { openBytes, Random } from "#base";
import { core, formatFen, formatUci, type Position, parseFen, START_FEN } from "#chess";
import { EncoderBatch } from "#encodings";
import {
  BagReader,
  createRecords,
  type DataRecord,
  decodeBagRecord,
  openRecords,
  readBinpackBytes,
  readPackedBytes,
} from "#formats";
import { command } from "../command.js";
import { type Pipeline, preparePipeline } from "./data-pipeline.js";

const BATCH = 256;
const GAME_PLIES = 120;

/** Records and positions of random games: as mixed as real ones for all that is timed here. */
function randomRecords(count: number): { records: DataRecord[]; positions: Position[] } {
  const random = new Random(1);
  const records: DataRecord[] = [];
  const positions: Position[] = [];
  while (records.length < count) {
    const position = parseFen(START_FEN);
    for (let ply = 0; ply < GAME_PLIES && records.length < count; ply++) {
      const moves = position.moves();
      if (moves.length === 0 || position.halfmoves > 100) break;
      const move = random.pick(moves);
      const score = random.below(2000) - 1000;
      const shared = { fen: formatFen(position), move: formatUci(position, move) };
      records.push({ ...shared, score, ply, result: 0, win_prob: random.next() });
      if (positions.length < BATCH) positions.push(position.clone());
      position.play(move);
    }
  }
  return { records, positions };
}

/** Each rate: what it counts, and a function that does the work and returns how many it did. */
async function prepare(folder: string, count: number): Promise<Record<string, () => number | Promise<number>>> {
  const { records, positions } = randomRecords(count);
  const path = (name: string) => join(folder, name);
  for (const [name, kind] of [
    ["a.bin"],
    ["a.binpack"],
    ["a.bag", "action_value"],
    ["a.bagz", "action_value"],
  ] as const) {
    const writer = await createRecords(path(name), { kind });
    await writer.write(records);
    await writer.commit();
  }
  const batch = new EncoderBatch(4096);
  positions.forEach((position, i) => {
    batch.put(i, position);
  });
  const encoded = (encode: (count: number) => unknown) => () => {
    for (let i = 0; i < 400; i++) encode(BATCH);
    return 400 * BATCH;
  };
  const bag = await BagReader.open(path("a.bag"));
  const order = new Random(2).shuffle(Uint32Array.from({ length: bag.length }, (_, i) => i));
  return {
    "bin to halfkp": async () => {
      let done = 0;
      for await (const bytes of readPackedBytes(await openBytes(path("a.bin")))) {
        done += batch.halfkpOfRecords(bytes).counts.length;
      }
      positions.forEach((position, i) => {
        batch.put(i, position);
      });
      return done;
    },
    "fen-tokens": encoded((n) => batch.fenTokens(n)),
    board68: encoded((n) => batch.board68(n)),
    planes13: encoded((n) => batch.planes("planes13", n)),
    planes18: encoded((n) => batch.planes("planes18", n)),
    halfkp: encoded((n) => batch.halfkp(n)),
    "binpack to bin": async () => {
      let done = 0;
      for await (const bytes of readBinpackBytes(await openBytes(path("a.binpack"))))
        done += bytes.length / core.RECORD_BYTES;
      return done;
    },
    "bag random access": () => {
      let sum = 0;
      for (const record of order) sum += bag.get(record).length;
      return sum > 0 ? order.length : 0;
    },
    "bag random access, decoded": () => {
      for (const record of order) decodeBagRecord(bag.get(record));
      return order.length;
    },
    "bagz in order": async () => {
      let done = 0;
      for await (const batch of await openRecords(path("a.bagz"))) done += batch.length;
      return done;
    },
    "bin to json records": async () => {
      let done = 0;
      for await (const batch of await openRecords(path("a.bin"))) done += batch.length;
      return done;
    },
  };
}

export default command({
  name: "bench data",
  summary: "Time the readers, encoders and batches that feed training; on one thread by default.",
  details:
    "Positions of random games, made once and written to a temporary folder; files come from the system's cache. Best of the rounds.",
  examples: ["tabiya bench data", "tabiya bench data --json", "tabiya bench data --games elite.pgn.zst --threads 2"],
  options: {
    positions: { type: "integer", default: 50_000, minimum: 1000, help: "how many positions to make" },
    games: { type: "strings", help: "PGN files to import, instead of random games" },
    threads: { type: "integer", minimum: 1, help: "for importing (default: one per core)" },
    rounds: { type: "integer", default: 10, minimum: 1, help: "runs of each, alternating" },
  },

  async run({ positions, games, threads, rounds }, io) {
    const folder = mkdtempSync(join(tmpdir(), "tabiya-bench-"));
    let pipeline: Pipeline | undefined;
    try {
      io.progress("making positions");
      pipeline = await preparePipeline(folder, games, threads ?? availableParallelism());
      const measures = { ...(await prepare(folder, positions)), ...pipeline.measures };
      const rates: Record<string, number> = {};
      for (let round = 0; round < rounds; round++) {
        for (const [name, work] of Object.entries(measures)) {
          io.signal.throwIfAborted();
          const start = performance.now();
          const done = await work();
          const rate = Math.round(done / ((performance.now() - start) / 1000));
          rates[name] = Math.max(rates[name] ?? 0, rate);
          io.progress(`round ${round + 1} of ${rounds}: ${name}`);
        }
      }
      for (const [name, rate] of Object.entries(rates)) io.print(`${name.padEnd(28)} ${(rate / 1e6).toFixed(2)} M/s`);
      return { positions, rates };
    } finally {
      await pipeline?.close();
      rmSync(folder, { recursive: true });
    }
  },
});
