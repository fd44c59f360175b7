import type { Move, Position } from "#chess";

/**
 * What an evaluator says of one position, from the mover's point of view. Values run from -1 (lost) to 1 (won) in every
 * search; whoever goes up one ply negates them.
 */
export interface Evaluation {
  value: number;
  wdl?: readonly [win: number, draw: number, loss: number]; // probabilities, where the network tells them apart
  moves: readonly Move[]; // all legal moves, in the order of `position.moves()`
  policy: Float32Array; // the share of each of `moves`; they add up to 1
  moveValues?: Float32Array; // what each of `moves` is worth to its mover, where one pass values all of them
  confidences?: Float32Array; // with them: the share of the likeliest of the values weighed for each
}

/**
 * Positions in, values and policies out: what a search knows of a network. One evaluator serves all players and searches
 * of a process that use the same network; it puts their questions together into batches and remembers answers.
 */
export interface Evaluator {
  /** As many positions at once are answered fastest. */
  readonly batchSize: number;
  /** Centipawns k in its values tanh(score / k); VALUE_SCALE_CP by default. */
  readonly scoreScale?: number;
  /**
   * Evaluates positions with at least one legal move each, with the moves that led to them. They are read before the call
   * returns: the caller may change them while it waits.
   */
  evaluate(positions: readonly Position[]): Promise<Evaluation[]>;
  /** The answer, if it is remembered from an earlier question. */
  recall(position: Position): Evaluation | undefined;
  close(): Promise<void>;
}
