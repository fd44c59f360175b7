import { MOVE_TABLES } from "#encodings";
import { concat, constant, type Tensor, withGradient } from "#tensor";

const { moves1858, moves4288, moves4672 } = MOVE_TABLES;
const NOTHING = moves4672.size; // the row of zeros behind the others
const STEPS = 64 * 64; // the indices below are steps, those above underpromotions

/** For each of the 4288 moves the one of the 4672 logits it is, as White's move. */
const LOGITS_OF_4288 = Array.from({ length: moves4288.size }, (_, index) => {
  const move = moves4288.named(index, false);
  return move ? moves4672.indexOfNamed(move, false) : NOTHING;
});

/** The same logit on the other side of the board, where Black's pawn stands. */
const across = (logit: number) => (logit === NOTHING ? NOTHING : logit ^ 56);

/** And back: for each of the 4672 the move it is a part of. */
const wholes = new Int32Array(moves4672.size).fill(moves4288.size);
LOGITS_OF_4288.forEach((logit, index) => {
  if (logit === NOTHING) return;
  wholes[logit] = index;
  if (index >= STEPS) wholes[across(logit)] = index;
});

/**
 * For each of the 1858 moves the one of the 4672 logits it is. Leela's bare step to the last rank is a knight's promotion,
 * AlphaZero's a queen's: the two are exchanged, or a queen's promotion would share the logit of a rook's step.
 */
export const LOGITS_OF_1858: readonly number[] = Array.from({ length: moves1858.size }, (_, index) => {
  const { promotion, ...step } = moves1858.named(index, false)!;
  return moves4672.indexOfNamed({ ...step, promotion: promotion === "queen" ? "knight" : promotion }, false);
});

const LC0_PROMOTIONS = ["rook", "bishop", "queen"];
const FIRST_PROMOTION = 64 * 64; // the planes before name steps

/** The same among the logits of lc0's own policy planes, whose promotions are ordered otherwise. */
export const LC0_POLICY_LOGITS: readonly number[] = LOGITS_OF_1858.map((logit, index) => {
  const move = moves1858.named(index, false)!;
  if (move.promotion === undefined) return logit;
  const way = (move.to & 7) - (move.from & 7) + 1;
  return FIRST_PROMOTION + (way * 3 + LC0_PROMOTIONS.indexOf(move.promotion)) * 64 + move.from;
});

const wholes1858 = new Int32Array(moves4672.size).fill(moves1858.size);
LOGITS_OF_1858.forEach((logit, index) => {
  wholes1858[logit] = index;
});

const indices = (list: ArrayLike<number>) => constant(list, [list.length], "int32");
const withZeros = (rows: Tensor) => concat([rows, rows.slice(0, 0, 1).mul(0)], 0);

/**
 * Logits by from-square and kind of step, seen from White, [8, 8, n, 73] -> logits of moves4288 [n, 4288]; those that
 * name no move are 0. An underpromotion has one index for both sides, so it is the sum of its plane at the seventh
 * rank and at the second; the net knows whose move it is.
 */
export function regroupMoves(planes: Tensor): Tensor {
  const rows = planes.transpose([3, 0, 1, 2]).reshape([moves4672.size, planes.dim(2)]);
  const padded = withZeros(rows);
  const steps = padded.gather(indices(LOGITS_OF_4288.slice(0, STEPS)));
  const promotions = LOGITS_OF_4288.slice(STEPS);
  const white = padded.gather(indices(promotions));
  const black = padded.gather(indices(promotions.map(across)));
  // Each of the 4672 is part of one move at most, so the gradient is a gather too, cheaper than adding up by index.
  const regrouped = withGradient(concat([steps, white.add(black)], 0), [rows], (dy) => [
    withZeros(dy).gather(indices(wholes)),
  ]);
  return regrouped.transpose([1, 0]);
}

/** Logits by from-square and kind of step, seen from the mover, [8, 8, n, 73] -> logits of moves1858 [n, 1858]. */
export function selectMoves(planes: Tensor): Tensor {
  const rows = planes.transpose([3, 0, 1, 2]).reshape([moves4672.size, planes.dim(2)]);
  const selected = withGradient(rows.gather(indices(LOGITS_OF_1858)), [rows], (dy) => [
    withZeros(dy).gather(indices(wholes1858)),
  ]);
  return selected.transpose([1, 0]);
}
