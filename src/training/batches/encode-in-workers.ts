// Rows that become numbers in worker threads while the network learns: both ends of the line.
import { mixSeed, serve, Transferred, type WorkerName, WorkerPool } from "#base";
import type { RawBatch, RawForm } from "#formats";
import type { RecordSource } from "./record-source.js";
import { BadRow, describeBadRow, type RowBatch, type RowEncoder } from "./row-format.js";

/** Records of one file, next to one another in a batch. */
export interface BatchRows {
  path: string;
  form: RawForm;
  batch: RawBatch;
}

/** Arrays that can be handed over; those of a shape that differs from batch to batch come with it. */
type Arrays = Record<string, ArrayBufferView<ArrayBuffer> | { data: ArrayBufferView<ArrayBuffer> } | undefined>;

interface Question {
  rows: BatchRows[];
  seed: number;
  shuffled: boolean;
}

type Answer<B> = { arrays: B; bad?: undefined } | { bad: { row: number; problem: string } };

/** Encodes by workers that run `serveRows`. */
export async function encodeInWorkers<B>(
  worker: WorkerName,
  setup: unknown,
  { seed, workers, positionsPerRow }: { seed: number; workers: number; positionsPerRow: number },
): Promise<RowEncoder<B, RecordSource>> {
  const pool = new WorkerPool(worker, workers);
  await pool.tell("configure", setup).catch(async (error: unknown) => {
    await pool.close();
    throw error;
  });
  return {
    async *encode(rows) {
      const asked: RowBatch<RecordSource>[] = []; // on their way, for messages
      const questions = async function* () {
        for await (const batch of rows) {
          asked.push(batch);
          yield formatQuestion(batch, seed);
        }
      };
      for await (const answer of pool.map<Answer<B>>("encode", questions())) {
        const parts = asked.shift()?.parts ?? [];
        if (answer.bad) throw describeBadRow(answer.bad, parts, positionsPerRow);
        yield answer.arrays;
      }
    },
    close: () => pool.close(),
  };
}

/** The question to a worker; the records are handed over, not copied. */
function formatQuestion({ parts, number, shuffled }: RowBatch<RecordSource>, seed: number) {
  const rows = parts.map(({ file: { path, form }, rows: { batch } }) => ({ path, form, batch }));
  return {
    argument: { rows, seed: shuffled ? mixSeed(seed, number, 2) : mixSeed(seed, number), shuffled } satisfies Question,
    transfer: rows.flatMap(({ batch }) => [batch.bytes.buffer, batch.ends.buffer]),
  };
}

/** The worker's side: `open` makes an encoder of what it was set up with. */
export function serveRows<S>(
  open: (setup: S) => { encode(rows: readonly BatchRows[], seed: number, shuffled: boolean): object },
): void {
  let encoder: ReturnType<typeof open> | undefined;
  serve({
    configure: (setup: S) => {
      encoder = open(setup);
    },
    encode: ({ rows, seed, shuffled }: Question) => {
      if (!encoder) throw new Error("internal: not configured");
      try {
        const arrays = encoder.encode(rows, seed, shuffled) as Arrays;
        const buffers = Object.values(arrays).flatMap((array) =>
          array ? [("data" in array ? array.data : array).buffer] : [],
        );
        return new Transferred({ arrays }, buffers);
      } catch (error) {
        if (!(error instanceof BadRow)) throw error;
        return { bad: { row: error.row, problem: error.problem } };
      }
    },
  });
}
