import type { Feeds } from "#tensor";

/** Positions with what is to be learnt of them. Values and moves are the mover's. */
export interface PolicyValueBatch extends Feeds {
  planes: Float32Array; // [n, planes, 8, 8]
  legal: Uint8Array; // [n, moves], 1 for legal moves
  move: Int32Array; // [n], the index of the move to learn
  value: Float32Array; // [n], -1 to 1
}

/** Where batches come from. */
export interface BatchSource<B extends Feeds = Feeds> {
  readonly positions: number;
  /** Says the same for the same positions only: a resumed run must find what it began with. */
  readonly fingerprint: string;
  /**
   * The batches of an epoch from the one numbered `from`, in an order that is the same every time; without an epoch all
   * positions once, as they stand in the files. The last batch may be smaller.
   */
  batches(options: { size: number; epoch?: number; from?: number }): AsyncIterable<B>;
}
