import { BOARD_TOKENS } from "#encodings";
import { IGNORE, type SequenceRows, TOKENS } from "./sequence.js";

/** The moves of sequences as lists, `count` of each row, for attention that boards may stand anywhere in. */
export interface MoveLists {
  speakers: Int32Array<ArrayBuffer>; // the token that says the move, as token * rows + row
  boards: Int32Array<ArrayBuffer>; // the first token of the board it is made on, alike
  moves: Int32Array<ArrayBuffer>; // of moves1924; IGNORE where a row has no more
  thinks: Float32Array<ArrayBuffer>; // 1 where the thinking policy says it
  winLoss: Float32Array<ArrayBuffer>;
  draws: Float32Array<ArrayBuffer>;
}

/**
 * A move follows the token that says it. One that no board says is made on the first board of its row if it is a thought's;
 * in a game whose boards are skipped, its squares are those of the last board that was not.
 */
export function moveLists(sequences: SequenceRows, count: number): MoveLists {
  const { rows, length } = sequences;
  const size = rows * count;
  const lists: MoveLists = {
    speakers: new Int32Array(size),
    boards: new Int32Array(size),
    moves: new Int32Array(size).fill(IGNORE),
    thinks: new Float32Array(size),
    winLoss: new Float32Array(size),
    draws: new Float32Array(size),
  };
  for (let row = 0; row < rows; row++) {
    let at = row * count;
    let lastBoard = 0;
    for (let token = 0; token < length; token++) {
      const index = row * length + token;
      if (sequences.slots[index] === 0) lastBoard = token;
      if (sequences.moveTargets[index] === IGNORE) continue;
      const isOnLast = sequences.slots[index] === BOARD_TOKENS - 1 || sequences.tokens[index] === TOKENS.d;
      lists.speakers[at] = token * rows + row;
      lists.boards[at] = (isOnLast ? lastBoard : 0) * rows + row;
      lists.moves[at] = sequences.moveTargets[index];
      lists.thinks[at] = sequences.thinkingMask[index];
      lists.winLoss[at] = sequences.winLossTargets[index + 1];
      lists.draws[at] = sequences.drawTargets[index + 2];
      at++;
    }
  }
  return lists;
}
