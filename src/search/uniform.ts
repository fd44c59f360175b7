import type { Position } from "#chess";
import type { Evaluation, Evaluator } from "./evaluator.js";

/** Knows nothing: all moves are alike, every position is even. What a search finds with it, it found by itself. */
export class UniformEvaluator implements Evaluator {
  readonly batchSize = 16;

  async evaluate(positions: readonly Position[]): Promise<Evaluation[]> {
    return positions.map(judge);
  }

  recall(): undefined {
    return undefined;
  }

  async close(): Promise<void> {}
}

function judge(position: Position): Evaluation {
  const moves = position.moves();
  return { value: 0, moves, policy: new Float32Array(moves.length).fill(1 / moves.length) };
}
