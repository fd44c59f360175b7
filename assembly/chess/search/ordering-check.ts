// Random games for checking what the search believes of moves: the picker, the test for legality, the test for check.
import { POSITION_BYTES } from "../rules/layout";
import { findChecks, givesCheck } from "./checks";
import { addKiller, checkersOf, frameAt, moveList, setCheckers } from "./frame";
import { generate, isLegal } from "../rules/movegen";
import { findThreats, nextMove, startPicking } from "./ordering";
import { checkers, copyPosition, isInsufficient, play, rule50 } from "../rules/position";
import { random, seedRandom } from "../rules/random";

/**
 * Walks from the positions at `starts`; at every ply counts moves that the picker leaves out, repeats or invents, whose check
 * is judged wrong, and whose legality is judged wrong, also of moves that are none. `list` has room for two lists of
 * moves, `after` for a position. A thread must have been started.
 */
export function orderingCheck(starts: usize, count: i32, plies: i32, seed: u64, list: usize, after: usize): i32 {
  seedRandom(seed);
  const frame = frameAt(0);
  const other = list + 512;
  let wrong = 0;
  copyPosition(frame, starts);
  for (let ply = 0; ply < plies; ply++) {
    const legal = generate(frame, list);
    if (legal == 0 || isInsufficient(frame) || rule50(frame) >= 100) {
      copyPosition(frame, starts + random(count) * POSITION_BYTES);
      continue;
    }
    setCheckers(frame, checkers(frame));
    findChecks(frame);
    findThreats(frame);
    addKiller(frame, random(2) ? <i32>load<u16>(list + (random(legal) << 1)) : random(65536));
    const first = random(2) ? <i32>load<u16>(list + (random(legal) << 1)) : 0;
    startPicking(frame, first, checkersOf(frame) != 0);
    let picked = 0;
    for (let move = nextMove(frame, false); move; move = nextMove(frame, false)) {
      if (picked == 0 && first && move != first) wrong++;
      if (!contains(list, legal, move) || contains(other, picked, move)) wrong++;
      store<u16>(other + (picked++ << 1), move);
      copyPosition(after, frame);
      play(after, move);
      if (givesCheck(frame, move) != (checkers(after) != 0)) wrong++;
    }
    if (picked != legal) wrong++;
    for (let i = 0; i < legal; i++) if (!isLegal(frame, load<u16>(list + (i << 1)), moveList(frame))) wrong++;
    for (let i = 0; i < 200; i++) {
      const move = random(65536);
      if (isLegal(frame, move, moveList(frame)) != contains(list, legal, move)) wrong++;
    }
    play(frame, load<u16>(list + (random(legal) << 1)));
  }
  return wrong;
}

function contains(list: usize, count: i32, move: i32): bool {
  for (let i = 0; i < count; i++) if (load<u16>(list + (i << 1)) == move) return true;
  return false;
}
