import { Random } from "#base";
import { bucketOf, FEN_TOKENS } from "#encodings";
import type { Feeds } from "#tensor";
import type { ActionData } from "./action-data.js";
import type { BatchSource } from "./batch-source.js";
import { mixSeed } from "./record-order.js";

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

/** A position and some of its moves, by their places in the data. */
interface Row {
  position: number;
  moves: Uint32Array;
}

export interface ActionOptions {
  queries: number; // moves in a row
  buckets: number;
  seed: number; // of the order, and of which moves are taken where there are more than `queries`
}

/** Batches of positions with values of their moves. */
export class ActionSource implements BatchSource<ActionBatch> {
  readonly positions: number;
  readonly fingerprint: string;
  private pass = -1; // whose order is at hand
  private order = new Uint32Array(0);

  constructor(
    private readonly data: ActionData,
    private readonly options: ActionOptions,
  ) {
    this.positions = data.positions;
    this.fingerprint = data.fingerprint;
  }

  async *batches(options: { size: number; epoch?: number; perEpoch?: number; from?: number }) {
    const { size, epoch, from = 0 } = options;
    if (epoch === undefined) {
      for (let start = from * size; start < this.positions; start += size) {
        const end = Math.min(start + size, this.positions);
        yield this.encode(
          this.choose(
            Uint32Array.from({ length: end - start }, (_, i) => start + i),
            -1,
            start,
          ),
        );
      }
      return;
    }
    const { perEpoch = Math.max(1, Math.floor(this.positions / size)) } = options;
    for (let batch = epoch * perEpoch + from; batch < (epoch + 1) * perEpoch; batch++) {
      const chosen = Uint32Array.from({ length: size }, (_, i) => this.at(batch * size + i));
      yield this.encode(this.choose(chosen, 0, batch));
    }
  }

  /** The position at a place of an endless order: pass after pass, each visits every position once. */
  private at(place: number): number {
    const pass = Math.floor(place / this.positions);
    if (this.pass !== pass) {
      this.pass = pass;
      this.order = Uint32Array.from({ length: this.positions }, (_, i) => i);
      new Random(mixSeed(this.options.seed, pass)).shuffle(this.order);
    }
    return this.order[place - pass * this.positions];
  }

  /** The moves to ask about; which, where there are too many, follows from the seed and the numbers given. */
  private choose(positions: Uint32Array, ...numbers: number[]): Row[] {
    const { seed, queries } = this.options;
    const { starts } = this.data;
    const random = new Random(mixSeed(seed, ...numbers, 1));
    return Array.from(positions, (position) => {
      const [start, end] = [starts[position], starts[position + 1]];
      const moves = Uint32Array.from({ length: end - start }, (_, i) => start + i);
      return { position, moves: moves.length > queries ? random.shuffle(moves).subarray(0, queries) : moves };
    });
  }

  /** Every move of the first `limit` positions (0: of all), `size` rows at a time. */
  *rows(size: number, limit = 0): Generator<ActionRows> {
    const { starts } = this.data;
    const { queries } = this.options;
    const end = limit > 0 ? Math.min(limit, this.positions) : this.positions;
    let rows: Row[] = [];
    const take = (): ActionRows => {
      const taken = { batch: this.encode(rows), positions: Uint32Array.from(rows, ({ position }) => position) };
      rows = [];
      return taken;
    };
    for (let position = 0; position < end; position++) {
      for (let move = starts[position]; move < starts[position + 1]; move += queries) {
        const length = Math.min(queries, starts[position + 1] - move);
        rows.push({ position, moves: Uint32Array.from({ length }, (_, i) => move + i) });
        if (rows.length === size) yield take();
      }
    }
    if (rows.length > 0) yield take();
  }

  async close(): Promise<void> {}

  private encode(rows: readonly Row[]): ActionBatch {
    const { tokens, actions, probabilities } = this.data;
    const { queries, buckets } = this.options;
    const size = rows.length * queries;
    const batch = {
      tokens: new Int32Array(rows.length * FEN_TOKENS),
      actions: new Int32Array(size),
      bucket: new Int32Array(size),
      winProbability: new Float32Array(size),
      weight: new Float32Array(size),
    };
    rows.forEach(({ position, moves }, row) => {
      batch.tokens.set(tokens.subarray(position * FEN_TOKENS, (position + 1) * FEN_TOKENS), row * FEN_TOKENS);
      for (let i = 0; i < moves.length; i++) {
        const at = row * queries + i;
        batch.actions[at] = actions[moves[i]];
        batch.bucket[at] = bucketOf(probabilities[moves[i]], buckets);
        batch.winProbability[at] = probabilities[moves[i]];
        batch.weight[at] = 1;
      }
    });
    return batch;
  }
}
