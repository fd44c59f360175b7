// Random games for checking and timing the network: positions one ply after another, in memory of the caller.
import { POSITION_BYTES } from "../rules/layout";
import { generate } from "../rules/movegen";
import { nnueEvaluate, nnueFresh, nnuePush, nnueSums } from "./network";
import { BLACK, copyPosition, isInsufficient, play, rule50, WHITE } from "../rules/position";
import { random, seedRandom } from "../rules/random";

/** Plays a random legal move on `target`, a copy of `source`; false if the game is over. */
function step(target: usize, source: usize, list: usize): bool {
  const count = generate(source, list);
  if (count == 0 || isInsufficient(source) || rule50(source) >= 100) return false;
  copyPosition(target, source);
  play(target, load<u16>(list + (random(count) << 1)));
  return true;
}

/**
 * Walks `plies` random plies from the positions at `starts`, going back now and then as a search does, and compares the
 * sums kept up to date with fresh ones. Returns how many differed. `stack` has room for 64 positions, `list` for a move list,
 * `fresh` for a row of sums.
 */
export function nnueCheck(starts: usize, count: i32, plies: i32, seed: u64, stack: usize, list: usize, fresh: usize, row: i32): i32 {
  seedRandom(seed);
  let wrong = 0;
  let ply = 0;
  copyPosition(stack, starts);
  nnuePush(0, stack);
  for (let i = 0; i < plies; i++) {
    const here = stack + ply * POSITION_BYTES;
    if (ply == 63 || !step(here + POSITION_BYTES, here, list)) {
      ply = 0;
      copyPosition(stack, starts + random(count) * POSITION_BYTES);
      nnuePush(0, stack); // the slots above still hold the last game, which must not matter
      continue;
    }
    ply++;
    nnuePush(ply, here + POSITION_BYTES);
    if (random(4) == 0) continue; // not every position is evaluated
    for (let view = WHITE; view <= BLACK; view++) {
      const kept = nnueSums(ply, view);
      nnueFresh(stack + ply * POSITION_BYTES, view, fresh);
      if (memory.compare(kept, fresh, row) != 0) wrong++;
    }
    if (random(3) == 0) ply -= random(min(ply, 4) + 1);
  }
  return wrong;
}

/** Fills `positions` with `count` positions of random games, each a ply after the one before unless a game begins. */
export function nnueWalk(start: usize, positions: usize, count: i32, seed: u64, list: usize): void {
  seedRandom(seed);
  copyPosition(positions, start);
  for (let i = 1; i < count; i++) {
    const target = positions + i * POSITION_BYTES;
    if (i % 80 == 0 || !step(target, target - POSITION_BYTES, list)) copyPosition(target, start);
  }
}

/** Evaluates the positions one after another as the plies of games; returns the sum of the values. */
export function nnueTime(positions: usize, count: i32): i64 {
  let sum: i64 = 0;
  for (let i = 0; i < count; i++) {
    const ply = i % 80;
    nnuePush(ply, positions + i * POSITION_BYTES);
    sum += nnueEvaluate(ply);
  }
  return sum;
}
