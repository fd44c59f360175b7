import { mixSeed, Random } from "#base";
import { bucketOf, FEN_TOKENS } from "#encodings";
import { eachRecord } from "#formats";
import type { Feeds } from "#tensor";
import type { BatchSource } from "../batches/batch-source.js";
import { GatheredRecords, RecordOrder } from "../batches/record-order.js";
import { BLOCK } from "../batches/record-source.js";
import { type ActionData, MOVE_BYTES, movesIn } from "./data.js";

/** Positions and moves asked about, with what is to be learnt of them; the values are the mover's. */
export interface ActionBatch extends Feeds {
  tokens: Int32Array; // [n, 77]
  actions: Int32Array; // [n, queries], 0 where there is none
  bucket: Int32Array; // [n, queries]
  winProbability: Float32Array; // [n, queries]
  weight: Float32Array; // [n, queries], 0 where there is no move
}

/** Rows of moves in the order of the positions: a position of many moves takes several. */
export interface ActionRows {
  batch: ActionBatch;
  positions: Uint32Array; // of each row
}

const PLACES = Uint8Array.from({ length: 256 }, (_, i) => i); // of moves in a record; a position has 218 at most

/** A record, and which of its moves are asked about. */
interface Row {
  record: Uint8Array;
  moves: Uint8Array; // by their places in the record
}

export interface ActionOptions {
  queries: number; // moves in a row
  buckets: number;
  seed: number; // of the order, and of which moves are taken where there are more than `queries`
  shuffled?: number; // positions shuffled at once, of blocks from all over the data; 131,072 if not said: some 35 MB
}

/** Batches of positions with values of their moves. */
export class ActionSource implements BatchSource<ActionBatch> {
  readonly positions: number;
  readonly fingerprint: string;

  constructor(
    private readonly data: ActionData,
    private readonly options: ActionOptions,
  ) {
    this.positions = data.count;
    this.fingerprint = data.fingerprint;
  }

  async *batches(options: { size: number; epoch?: number; perEpoch?: number; from?: number }) {
    const { size, epoch, from = 0 } = options;
    if (epoch === undefined) {
      const order = this.inOrder();
      for (let start = from * size; start < this.positions; start += size) {
        const records = gather(order, start, Math.min(start + size, this.positions));
        yield this.encode(this.choose(records, -1, start));
      }
      return;
    }
    const { seed, shuffled = 131_072 } = this.options;
    const order = new RecordOrder(this.data, seed, Math.max(1, Math.round(shuffled / BLOCK)));
    const { perEpoch = Math.max(1, Math.floor(this.positions / size)) } = options;
    for (let batch = epoch * perEpoch + from; batch < (epoch + 1) * perEpoch; batch++) {
      yield this.encode(this.choose(gather(order, batch * size, (batch + 1) * size), 0, batch));
    }
  }

  private inOrder = () => new RecordOrder(this.data, undefined, 64);

  /** The moves to ask about; which, where there are too many, follows from the seed and the numbers given. */
  private choose(records: readonly Uint8Array[], ...numbers: number[]): Row[] {
    const { seed, queries } = this.options;
    const random = new Random(mixSeed(seed, ...numbers, 1));
    return records.map((record) => {
      const moves = PLACES.subarray(0, movesIn(record.length));
      return { record, moves: moves.length > queries ? random.shuffle(moves.slice()).subarray(0, queries) : moves };
    });
  }

  /** Every move of the first `limit` positions (0: of all), `size` rows at a time. */
  *rows(size: number, limit = 0): Generator<ActionRows> {
    const { queries } = this.options;
    const end = limit > 0 ? Math.min(limit, this.positions) : this.positions;
    const order = this.inOrder();
    let rows: Row[] = [];
    let positions: number[] = [];
    const take = (): ActionRows => {
      const taken = { batch: this.encode(rows), positions: Uint32Array.from(positions) };
      [rows, positions] = [[], []];
      return taken;
    };
    for (let position = 0; position < end; position++) {
      const [record] = gather(order, position, position + 1);
      const count = movesIn(record.length);
      for (let first = 0; first < count; first += queries) {
        rows.push({ record, moves: PLACES.subarray(first, Math.min(first + queries, count)) });
        positions.push(position);
        if (rows.length === size) yield take();
      }
    }
    if (rows.length > 0) yield take();
  }

  close(): Promise<void> {
    return this.data.close();
  }

  private encode(rows: readonly Row[]): ActionBatch {
    const { queries, buckets } = this.options;
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
    return batch;
  }
}

/** The records from a place to before another. */
function gather(order: RecordOrder<ActionData>, from: number, to: number): Uint8Array[] {
  const gathered = new GatheredRecords(to - from);
  order.gather(from, to, gathered);
  return [...eachRecord(gathered.batch)];
}
