// What the training of networks wants to know of positions: the inputs that are on, read off the same table that inference
// uses (the head of a network's image, see network.ts), so that the two cannot disagree.
import { RECORD_BYTES, RECORD_MOVE_AT, RECORD_RESULT_AT, RECORD_SCORE_AT } from "../rules/layout";
import { bit } from "../rules/attacks";
import { unpackPosition } from "../records/packed";
import { checkers, kingSquare, occupied, pieceOn, side } from "../rules/position";

const ROW: i32 = 32; // inputs a point of view has room for

/** The inputs of one point of view, 16 bits each; returns how many. */
function inputsFor(layout: usize, p: usize, view: i32, out: usize): i32 {
  const king = kingSquare(p, view);
  const flip = <i32>load<u8>(layout + view, 320) ^ (load<i32>(layout, 56) && king & 4 ? 7 : 0);
  const first = <i32>load<u16>(layout + ((king ^ flip) << 1), 64);
  const kinds = layout + 256 + (view << 5);
  const start = out;
  let pieces = occupied(p);
  while (pieces) {
    const square = <i32>ctz(pieces);
    pieces &= pieces - 1;
    const kind = <i32>load<i16>(kinds + (pieceOn(p, square) << 1));
    if (kind < 0) continue;
    store<u16>(out, first + kind + (square ^ flip));
    out += 2;
  }
  return <i32>((out - start) >> 1);
}

/** Whether the move of a record (if it has one) is neither capture nor promotion, and its mover not in check. */
function isQuiet(record: usize, p: usize): bool {
  const move = <i32>load<u16>(record, RECORD_MOVE_AT);
  if (move == 0) return !checkers(p);
  const kind = move >> 14;
  if (kind == 1 || kind == 2) return false; // promotion, en passant
  if (kind != 3 && occupied(p) & bit(move & 63)) return false; // castling is king takes own rook
  return !checkers(p);
}

/**
 * From .bin records to what the trainer learns from: inputs (u16 x 2 x 32, mover first) and facts (8 bytes: u8 number of
 * inputs, u8 output bucket, i16 score, i8 result), one behind the other. Left out are, if `quiet`, positions in which
 * something is about to happen, and scores beyond +-limit. Returns how many were kept, or -1 - i if record i is bad; `p` is
 * room for one position.
 */
export function nnueFeatures(
  layout: usize,
  records: usize,
  count: i32,
  p: usize,
  inputs: usize,
  facts: usize,
  quiet: bool,
  limit: i32,
): i32 {
  const outputs = load<i32>(layout, 8);
  const perOutput = (31 + outputs) / outputs;
  let kept = 0;
  for (let i = 0; i < count; i++, records += RECORD_BYTES) {
    if (unpackPosition(records, p) != 0) return -1 - i;
    const score = <i32>load<i16>(records, RECORD_SCORE_AT);
    if (abs(score) > limit || (quiet && !isQuiet(records, p))) continue;
    const us = side(p);
    const length = inputsFor(layout, p, us, inputs);
    inputsFor(layout, p, us ^ 1, inputs + ROW * 2);
    store<u8>(facts, length);
    store<u8>(facts, (<i32>popcnt(occupied(p)) - 2) / perOutput, 1);
    store<i16>(facts, score, 2);
    store<i8>(facts, load<i8>(records, RECORD_RESULT_AT), 4);
    inputs += ROW * 4;
    facts += 8;
    kept++;
  }
  return kept;
}
