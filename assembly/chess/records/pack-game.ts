// From the moves of a game to training records: the inner loop of `data import`.
import { CHESS960_AT, FULLMOVES_AT, POSITION_BYTES, RECORD_BYTES } from "../rules/layout";
import { packPosition } from "./packed";
import { castlingRights, castlingRook, colorSet, copyPosition, key, play, ROOK, roleSet, rule50, side } from "../rules/position";

/**
 * Plays a game from `start` and writes a row for each of its positions that `keep` marks (a byte per position, from the
 * start on) and that has a move to follow. `moves` and `evals` have a slot per position, as in a block of games: the move
 * and the evaluation (White's view) that led to it. `result` is White's. Without `scored` the score is 0.
 *
 * A row is a .bin record of 40 bytes, or if `wide` the struct of the position (160 bytes), then as in a record i16 score,
 * u16 move, u16 ply, i8 result, 0xff, and further i16 evaluation after the move in the mover's view, and 6 bytes unused.
 * Of each row, the position's key is written to `keys`. A position that a .bin cannot hold is left out, if not `wide`.
 * Returns how many rows were written. `p` is room for a position.
 */
export function packGame(
  start: usize,
  moves: usize,
  evals: usize,
  keep: usize,
  plies: i32,
  result: i32,
  scored: bool,
  wide: bool,
  out: usize,
  keys: usize,
  p: usize,
): i32 {
  copyPosition(p, start);
  const first = out;
  const stride = wide ? POSITION_BYTES + 16 : RECORD_BYTES;
  const tail = wide ? <usize>POSITION_BYTES : 32;
  const chess960 = load<u8>(start, CHESS960_AT) != 0;
  for (let ply = 0; ply < plies; ply++) {
    const move = load<u16>(moves + ((ply + 1) << 1));
    if (load<u8>(keep + ply)) {
      let fits = true;
      if (wide) copyPosition(out, p);
      else fits = rule50(p) < 128 && (!chess960 || rooksAreOutermost(p)) && packPosition(p, out);
      if (fits) {
        const black = side(p);
        const sign = black ? -1 : 1;
        const to = out + tail;
        store<i16>(to, scored ? sign * load<i16>(evals + (ply << 1)) : 0);
        store<u16>(to, move, 2);
        store<u16>(to, 2 * (max(1, <i32>load<u16>(p, FULLMOVES_AT)) - 1) + black, 4);
        store<i8>(to, sign * result, 6);
        store<u8>(to, 0xff, 7);
        if (wide) {
          const after = load<i16>(evals + ((ply + 1) << 1));
          store<i16>(to, after == i16.MIN_VALUE ? after : sign * after, 8);
        }
        store<u64>(keys, key(p));
        keys += 8;
        out += stride;
      }
    }
    play(p, move);
  }
  return <i32>(out - first) / stride;
}

/** Whether the castling rights say enough without the files of the rooks, as they must in a .bin. */
function rooksAreOutermost(p: usize): bool {
  const rights = castlingRights(p);
  for (let right = 0; right < 4; right++) {
    if (!(rights & (1 << right))) continue;
    const color = right >> 1;
    const rooks = roleSet(p, ROOK) & colorSet(p, color) & (<u64>0xff << (color ? 56 : 0));
    if (castlingRook(p, right) != (right & 1 ? <i32>ctz(rooks) : 63 - <i32>clz(rooks))) return false;
  }
  return true;
}
