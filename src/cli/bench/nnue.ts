import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processors, Random } from "#base";
import { core, formatFen, formatUci } from "#chess";
import { EncoderBatch, HALFKP_ROW, HALFKP_UNUSED } from "#encodings";
import { encodePacked } from "#formats";
import { NNUE_SIZES, Nnue, randomPositions } from "#models";
import { Batches, NNUE_ROWS, NnueTrainer } from "#training";
import { command } from "../command.js";
import { PAUSE_MS, pause, startTorch } from "./train.js";

const INPUTS = 41_024;
const SCORE_SCALE = 600;

/** One batch of records: from a file, or of random games with random scores. */
async function readBatch(data: string | undefined, size: number): Promise<Uint8Array> {
  if (data !== undefined) {
    const source = await Batches.open({ sources: [data], format: NNUE_ROWS, seed: 1 });
    try {
      for await (const { records } of source.batches({ size, epoch: 0 })) return records;
    } finally {
      await source.close();
    }
  }
  const random = new Random(1);
  const records = new Uint8Array(size * core.RECORD_BYTES);
  randomPositions(size, 1).forEach((position, i) => {
    const move = formatUci(position, position.moves()[0]);
    const record = { fen: formatFen(position), move, score: random.below(1000) - 500, ply: 1, result: 0 };
    encodePacked(record, records.subarray(i * core.RECORD_BYTES, (i + 1) * core.RECORD_BYTES));
  });
  return records;
}

/** The same batch as PyTorch's side reads it: bench/torch/nnue.py says how. */
function writeForTorch(path: string, records: Uint8Array): void {
  const count = records.length / core.RECORD_BYTES;
  const inputs = new Int32Array(2 * count * HALFKP_ROW);
  const targets = new Float32Array(count);
  const encoder = new EncoderBatch(1);
  for (let i = 0; i < count; i++) {
    const record = records.subarray(i * core.RECORD_BYTES, (i + 1) * core.RECORD_BYTES);
    const { indices } = encoder.halfkpOfRecords(record);
    for (let view = 0; view < 2; view++) {
      for (let k = 0; k < HALFKP_ROW; k++) {
        const index = indices[view * HALFKP_ROW + k];
        inputs[(view * count + i) * HALFKP_ROW + k] = index === HALFKP_UNUSED ? INPUTS : index;
      }
    }
    const score = new DataView(record.buffer, record.byteOffset).getInt16(core.RECORD_SCORE_AT, true);
    targets[i] = 1 / (1 + Math.exp(-score / SCORE_SCALE));
  }
  const parts = [Uint32Array.of(count), inputs, targets];
  writeFileSync(path, Buffer.concat(parts.map(({ buffer }) => new Uint8Array(buffer))));
}

const best = (times: readonly number[]) => Math.min(...times);

export default command({
  name: "bench nnue",
  summary: "Time training steps of HalfKP 41024 -> 256x2 -> 32 -> 32 -> 1, alone or alternating with PyTorch.",
  details:
    "A step is: records in, inputs, forward, backward, optimiser (AdamW) over the rows that occur, loss out. PyTorch gets the\n" +
    "inputs ready made; its time is the better of dense gradients with a fused AdamW and sparse ones with SparseAdam.",
  examples: ["tabiya bench nnue --data games.bin", "tabiya bench nnue --data games.bin --against torch --json"],
  options: {
    data: { help: ".bin or .binpack file; random games if not given" },
    batch: { type: "integer", default: 16_384, minimum: 64, help: "positions in a batch" },
    steps: { type: "integer", default: 10, minimum: 1, help: "steps to time" },
    threads: { type: "integer", minimum: 1, help: "threads of both sides; one per core if not given" },
    against: { choices: ["torch"], help: "alternate with this program" },
  },
  async run({ data, batch, steps, threads = processors(), against }, io) {
    const records = await readBatch(data, batch);
    const network = new Nnue(NNUE_SIZES.halfkp, new Random(1));
    const trainer = await NnueTrainer.open(network, {
      batchSize: batch,
      threads,
      target: { scoreScale: SCORE_SCALE, resultShare: 0, quiet: false, scoreLimit: 32_767 },
      optimiser: { name: "adamw", weightDecay: 0 },
    });
    const folder = mkdtempSync(join(tmpdir(), "tabiya-bench-"));
    const peers: Awaited<ReturnType<typeof startTorch>>[] = [];
    const ours: number[] = [];
    const theirs: number[][] = [];
    try {
      if (against) {
        const file = join(folder, "batch");
        writeForTorch(file, records);
        for (const kind of [[], ["--sparse"]])
          peers.push(await startTorch("nnue.py", [file, "--threads", String(threads), ...kind]));
      }
      const step = async () => {
        const start = performance.now();
        await trainer.step([{ records }], { learningRate: 1e-3 });
        return performance.now() - start;
      };
      await step(); // the first ones compile and allocate
      for (const peer of peers) await peer.step();
      for (let i = 0; i < steps && !io.signal.aborted; i++) {
        if (peers.length > 0) await pause(PAUSE_MS);
        ours.push(await step());
        for (const [k, peer] of peers.entries()) {
          await pause(PAUSE_MS);
          theirs[k] = [...(theirs[k] ?? []), await peer.step()];
        }
        io.progress(`step ${i + 1} of ${steps}`);
      }
    } finally {
      for (const peer of peers) peer.stop();
      await trainer.close();
      rmSync(folder, { recursive: true, force: true });
    }
    io.signal.throwIfAborted();
    const rate = (times: readonly number[]) => Math.round((batch / best(times)) * 1000);
    const peersBest = theirs.map(best);
    const result = {
      positionsPerSecond: rate(ours),
      bestMs: best(ours),
      threads,
      batch,
      against: theirs.map((times, k) => ({ settings: peers[k].settings, positionsPerSecond: rate(times), bestMs: best(times) })), // biome-ignore format: a list
      ratio: peersBest.length > 0 ? Math.min(...peersBest) / best(ours) : null,
    };
    io.print(
      `${result.positionsPerSecond} positions/s on ${threads} threads, ${result.bestMs.toFixed(1)} ms a step of ${batch}`,
    );
    for (const peer of result.against)
      io.print(
        `PyTorch ${JSON.stringify(peer.settings)}: ${peer.positionsPerSecond} positions/s, ${peer.bestMs.toFixed(1)} ms`,
      );
    if (result.ratio !== null) io.print(`${result.ratio.toFixed(1)} times as fast as the better of the two`);
    return result;
  },
});
