/** Where batches come from. */
export interface BatchSource<B = unknown> {
  readonly positions: number;
  /** Says the same for the same positions only: a resumed run must find what it began with. */
  readonly fingerprint: string;
  /**
   * The batches of an epoch (from 0, each of `perEpoch` batches, or of all positions once) from the one numbered `from`, in
   * an order that is the same every time; all are of the size asked for. Without an epoch all positions once, as they
   * stand in the files, the last batch as small as it is.
   */
  batches(options: { size: number; epoch?: number; perEpoch?: number; from?: number }): AsyncIterable<B>;
  close(): Promise<void>;
}
