import { Random, UserError } from "#base";
import { clampEvaluation, core } from "#chess";
import { badRecord, createRawRecords, type NnueWeights, openRawRecords } from "#formats";
import { nnueImage } from "#models";
import { isQuiet } from "./quiet.js";

/** Which positions a network values, and how. */
export interface DistilOptions {
  share: number; // of the positions, how many are kept as they are
  varied: number; // of the positions, how many become another, one or two random moves away
  scale: number; // what the network's centipawns are multiplied with, to match other data
  limit?: number; // positions read at most
  seed: number;
  signal: AbortSignal;
  onProgress(state: { positions: number; done: number; total: number | undefined }): void;
}

/** How many positions were valued, and how many left out. */
export interface DistilResult {
  positions: number; // read
  written: number;
  restless: number; // left out: in check, or with something to win at once
}

const { LIST, POSITION, RECORD_BYTES, wasm } = core;

/**
 * Positions of a file, and others a random move or two off them, valued by a network alone, without a search: the
 * cheapest labels there are, some hundred thousand a second. Only quiet positions, where such a value means something.
 * Records of varied positions have no move.
 */
export async function distilRecords(
  from: string,
  to: string,
  network: NnueWeights,
  { share, varied, scale, limit = Number.POSITIVE_INFINITY, seed, signal, onProgress }: DistilOptions,
): Promise<DistilResult> {
  const reader = await openRawRecords(from);
  if (reader.form !== "packed")
    throw badRecord(
      "DATA_FORM",
      { path: from, record: 0 },
      "expected a .bin or .binpack file; see tabiya data convert.",
    );
  const writer = await createRawRecords(to, "packed", from);
  const random = new Random(seed);
  const value = evaluator(network);
  const record = core.allocate(RECORD_BYTES);
  const result: DistilResult = { positions: 0, written: 0, restless: 0 };
  try {
    for await (const { bytes, ends } of reader) {
      signal.throwIfAborted();
      if (result.positions >= limit) break;
      const out = new Uint8Array(ends.length * 2 * RECORD_BYTES);
      const view = new DataView(out.buffer);
      let length = 0;
      const put = (source: Uint8Array, plies: number) => {
        if (!isQuiet()) {
          result.restless++;
          return;
        }
        if (!wasm.packPosition(POSITION, record)) return;
        out.set(source, length);
        out.set(core.bytes.subarray(record, record + 32), length);
        const centipawns = Math.round(value() * scale);
        view.setInt16(length + core.RECORD_SCORE_AT, clampEvaluation(centipawns), true);
        if (plies > 0) view.setUint16(length + core.RECORD_MOVE_AT, 0, true);
        view.setUint16(length + core.RECORD_PLY_AT, view.getUint16(length + core.RECORD_PLY_AT, true) + plies, true);
        if (plies % 2 === 1)
          view.setInt8(length + core.RECORD_RESULT_AT, -view.getInt8(length + core.RECORD_RESULT_AT));
        length += RECORD_BYTES;
      };
      for (let at = 0; at < bytes.length && result.positions < limit; at += RECORD_BYTES) {
        const source = bytes.subarray(at, at + RECORD_BYTES);
        const [asItIs, other] = [random.next() < share, random.next() < varied];
        if (asItIs || other) {
          core.bytes.set(source, record);
          if (wasm.unpackRecords(record, 1, POSITION) < 1)
            throw badRecord(
              "DATA_RECORD",
              { path: from, record: result.positions },
              "its position is not one of chess.",
            );
          if (asItIs) put(source, 0);
          const plies = other ? playRandom(random) : 0;
          if (plies > 0) put(source, plies);
        }
        result.positions++;
      }
      result.written += length / RECORD_BYTES;
      const ended = Uint32Array.from({ length: length / RECORD_BYTES }, (_, i) => (i + 1) * RECORD_BYTES);
      await writer.write({ bytes: out.subarray(0, length), ends: ended });
      onProgress({ positions: result.positions, done: reader.progress, total: reader.size });
    }
    if (result.written === 0)
      throw new UserError("RECORDS_NONE", `${from}: no position was left to write, so nothing was written.`);
    await writer.commit();
    return result;
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

/** One or two random moves; returns how many were possible. */
function playRandom(random: Random): number {
  const wanted = 1 + random.below(2);
  for (let plies = 0; plies < wanted; plies++) {
    const count = wasm.generate(POSITION, LIST);
    if (count === 0) return 0;
    wasm.play(POSITION, core.moves[(LIST >> 1) + random.below(count)]);
  }
  return wasm.generate(POSITION, LIST) > 0 ? wanted : 0;
}

/** Loads the network into the core; what is returned values the position there in centipawns, for the mover. */
function evaluator(network: NnueWeights): () => number {
  const bytes = nnueImage(network);
  const image = core.allocate(bytes.length);
  core.bytes.set(bytes, image);
  wasm.nnueStart(image, core.allocate(wasm.nnueBytes(image, 1)), 1);
  const unitsPerPawn = new DataView(bytes.buffer).getInt32(20, true);
  return () => {
    wasm.nnuePush(0, POSITION);
    return (wasm.nnueEvaluate(0) * 100) / unitsPerPawn;
  };
}
