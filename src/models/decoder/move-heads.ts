import type { Random } from "#base";
import { MOVE_TABLES } from "#encodings";
import { concat, constant, type Linear, linear, type Tensor, withGradient } from "#tensor";
import type { DecoderConfig } from "./config.js";

const { moves1924 } = MOVE_TABLES;
const PROMOTIONS = ["queen", "rook", "bishop"] as const; // that have a name; a bare step to the last rank is a knight's

/** The moves of the table by their squares: first those without a promotion, each pair of squares once, then the others. */
const NAMED = Array.from({ length: moves1924.size }, (_, index) => moves1924.named(index, false)!);
const BARE = NAMED.findIndex(({ promotion }) => promotion !== undefined);
const pairOf = ({ from, to }: { from: number; to: number }): number => from * 64 + to;

const PAIRS = NAMED.slice(0, BARE).map(pairOf);
const MOVE_OF_PAIR = (() => {
  const moves = new Int32Array(64 * 64).fill(BARE); // the row of zeros behind the others
  PAIRS.forEach((pair, move) => {
    moves[pair] = move;
  });
  return moves;
})();
const PROMOTED = NAMED.slice(BARE);
const PROMOTED_BARE = PROMOTED.map((move) => MOVE_OF_PAIR[pairOf(move)]);
const PROMOTED_PIECE = PROMOTED.map(({ to, promotion }) => to * 3 + PROMOTIONS.indexOf(promotion as "queen"));

const indices = (list: ArrayLike<number>) => constant(list, [list.length], "int32");

/** What the squares of a board say of the moves between them. */
export class SquareMoves {
  readonly from: Linear;
  readonly to: Linear;
  readonly promotions: Linear;

  constructor({ width, squares }: DecoderConfig, random: Random) {
    this.from = linear(width, squares, random);
    this.to = linear(width, squares, random);
    this.promotions = linear(width, PROMOTIONS.length, random);
  }

  /** Squares [g, 64, n, width] of g * n boards -> logits [g * n, 1924] */
  apply(squares: Tensor): Tensor {
    const n = squares.dim(2);
    const boards = (x: Tensor) => {
      const [g, , , size] = x.shape;
      return x.transpose([0, 2, 1, 3]).reshape([g === 1 ? n : -1, 64, size]);
    };
    const [from, to] = [this.from, this.to].map((side) => boards(side.apply(squares)));
    const alpha = 1 / Math.sqrt(from.dim(2) as number);
    const pairs = from
      .matmul(to, { transB: true, alpha })
      .reshape([-1, 64 * 64])
      .transpose(); // [4096, boards]
    const bare = withGradient(pairs.gather(indices(PAIRS)), [pairs], (dy) => [
      concat([dy, dy.slice(0, 0, 1).mul(0)], 0).gather(indices(MOVE_OF_PAIR)),
    ]);
    const pieces = boards(this.promotions.apply(squares))
      .reshape([-1, 64 * PROMOTIONS.length])
      .transpose();
    const promoted = bare.gather(indices(PROMOTED_BARE)).add(pieces.gather(indices(PROMOTED_PIECE)));
    return concat([bare, promoted], 0).transpose();
  }
}
