import { mixSeed, Random } from "#base";
import { bucketOf, FEN_TOKENS } from "#encodings";
import { eachRecord } from "#formats";
import type { Feeds } from "#tensor";
import type { RowBatch, RowFormat } from "../batches/row-format.js";
import { MOVE_BYTES, movesIn, openValuedPositions } from "./valued-positions.js";

/** Positions and moves asked about, with what is to be learnt of them; the values are the mover's. */
export interface ActionBatch extends Feeds {
  tokens: Int32Array; // [n, 77]
  actions: Int32Array; // [n, queries], 0 where there is none
  bucket: Int32Array; // [n, queries]
  winProbability: Float32Array; // [n, queries]
  weight: Float32Array; // [n, queries], 0 where there is no move
}

/** A batch, and the positions of its rows. */
export interface ActionRows {
  batch: ActionBatch;
  positions: Uint32Array; // [n], the number of each among those of the pass
}

/** Which moves of a position are asked about. */
interface Query {
  record: Uint8Array;
  moves: Uint8Array; // by their indices in the record
  position: number;
}

export interface ActionEncoding {
  queries: number; // moves in a row
  buckets: number;
  turned: boolean; // Black's positions are shown from Black's side
}

const INDICES = Uint8Array.from({ length: 256 }, (_, i) => i); // of moves in a record; a position has 218 at most

/**
 * Rows of the moe family. To learn, a position is a row: of more moves than there is room for, some are drawn. To judge by,
 * all moves of a position come, in as many rows as they need, and no batch has more rows than were asked for.
 */
export function actionRows(encoding: ActionEncoding): RowFormat<ActionRows> {
  const { queries, turned } = encoding;
  return {
    positionsPerRow: 1,
    mixesResults: false,
    open: (path, { scratch, limit }) => openValuedPositions(path, { turned, limit, scratch }),
    // The first file is ordered by the seed itself, so that runs of earlier versions, whose files were one, go on as they began.
    orderSeed: (seed, file) => (file === 0 ? seed : mixSeed(seed, file)),
    encoder: async ({ seed }) => ({
      async *encode(batches) {
        let judged: { rows: Query[]; size: number; positions: number } | undefined;
        for await (const batch of batches) {
          if (batch.shuffled) {
            yield encodeQueries(drawMoves(batch, seed, queries), encoding);
            continue;
          }
          const records = recordsOf(batch);
          judged ??= { rows: [], size: records.length, positions: 0 };
          for (const record of records) judged.rows.push(...everyMove(record, judged.positions++, queries));
          while (judged.rows.length >= judged.size) yield encodeQueries(judged.rows.splice(0, judged.size), encoding);
        }
        if (judged && judged.rows.length > 0) yield encodeQueries(judged.rows, encoding);
      },
      async close() {},
    }),
  };
}

const recordsOf = ({ parts }: RowBatch): Uint8Array[] => parts.flatMap(({ rows }) => [...eachRecord(rows.batch)]);

/** A row for each position; which moves are taken, where there are too many, follows from seed and number of the batch. */
function drawMoves(batch: RowBatch, seed: number, queries: number): Query[] {
  const random = new Random(mixSeed(seed, 0, batch.number, 1));
  return recordsOf(batch).map((record, position) => {
    const moves = INDICES.subarray(0, movesIn(record.length));
    const drawn = moves.length > queries ? random.shuffle(moves.slice()).subarray(0, queries) : moves;
    return { record, moves: drawn, position };
  });
}

function everyMove(record: Uint8Array, position: number, queries: number): Query[] {
  const count = movesIn(record.length);
  return Array.from({ length: Math.ceil(count / queries) }, (_, i) => ({
    record,
    moves: INDICES.subarray(i * queries, Math.min((i + 1) * queries, count)),
    position,
  }));
}

function encodeQueries(rows: readonly Query[], { queries, buckets }: ActionEncoding): ActionRows {
  const size = rows.length * queries;
  const batch = {
    tokens: new Int32Array(rows.length * FEN_TOKENS),
    actions: new Int32Array(size),
    bucket: new Int32Array(size),
    winProbability: new Float32Array(size),
    weight: new Float32Array(size),
  };
  rows.forEach(({ record, moves }, row) => {
    batch.tokens.set(record.subarray(0, FEN_TOKENS), row * FEN_TOKENS);
    const view = new DataView(record.buffer, record.byteOffset, record.length);
    for (let i = 0; i < moves.length; i++) {
      const at = row * queries + i;
      const from = FEN_TOKENS + MOVE_BYTES * moves[i];
      const probability = view.getFloat32(from + 2, true);
      batch.actions[at] = view.getUint16(from, true);
      batch.bucket[at] = bucketOf(probability, buckets);
      batch.winProbability[at] = probability;
      batch.weight[at] = 1;
    }
  });
  return { batch, positions: Uint32Array.from(rows, ({ position }) => position) };
}
