import { BOARD_TOKENS } from "#encodings";
import { IGNORE, type SequenceRows, TOKENS } from "./sequence.js";

export const NO_MOVE = -1; // where a list has no more
const LISTED = 96; // moves that there is room for in each list; if one is longer, all get as much room as it needs

/** Lists of one length each. */
export interface Table<A> {
  data: A;
  shape: [number, number];
}

/** Lists as rows of one length, what is left of each as `create` made it. */
export function table<A extends Int32Array<ArrayBuffer> | Float32Array<ArrayBuffer>>(
  lists: readonly (readonly number[])[],
  create: (size: number) => A,
): Table<A> {
  const k = lists.reduce((most, { length }) => Math.max(most, length), LISTED);
  const data = create(lists.length * k);
  lists.forEach((list, i) => {
    data.set(list, i * k);
  });
  return { data, shape: [lists.length, k] };
}

/** The legal moves of positions of games, and what is to be learnt of each; the first positions of all rows come first. */
interface Policies {
  legal: readonly (readonly number[])[];
  policy: readonly (readonly number[])[];
}

/** The moves of sequences as lists, `count` of each row, for attention that boards may stand anywhere in. */
export interface MoveLists {
  speakers: Int32Array<ArrayBuffer>; // the token that says the move, as token * rows + row
  boards: Int32Array<ArrayBuffer>; // the first token of the board it is made on, alike
  moves: Int32Array<ArrayBuffer>; // of moves1924; IGNORE where a row has no more
  thinks: Float32Array<ArrayBuffer>; // 1 where the thinking policy says it
  winLoss: Float32Array<ArrayBuffer>;
  draws: Float32Array<ArrayBuffer>;
  choices: Table<Int32Array<ArrayBuffer>>; // [moves, k]: those that have a share of what is to be learnt, then NO_MOVE
  shares: Table<Float32Array<ArrayBuffer>>; // the sum of each list is 1
}

/**
 * A move follows the token that says it. One that no board says is made on the first board of its row if it is a thought's;
 * in a game whose boards are skipped, its squares are those of the last board that was not. In games the policy is learnt
 * whole, in thoughts the one move.
 */
export function moveLists(sequences: SequenceRows, count: number, games?: Policies): MoveLists {
  const { rows, length } = sequences;
  const size = rows * count;
  const choices: (readonly number[])[] = Array.from({ length: size }, () => []);
  const shares: (readonly number[])[] = Array.from({ length: size }, () => []);
  const lists = {
    speakers: new Int32Array(size),
    boards: new Int32Array(size),
    moves: new Int32Array(size).fill(IGNORE),
    thinks: new Float32Array(size),
    winLoss: new Float32Array(size),
    draws: new Float32Array(size),
  };
  for (let row = 0; row < rows; row++) {
    let made = 0;
    let lastBoard = 0;
    for (let token = 0; token < length; token++) {
      const index = row * length + token;
      if (sequences.slots[index] === 0) lastBoard = token;
      if (sequences.moveTargets[index] === IGNORE) continue;
      const at = row * count + made;
      const position = made++ * rows + row;
      const legal = games?.legal[position] ?? [];
      const isGame = legal.length > 0;
      const isOnLast = sequences.slots[index] === BOARD_TOKENS - 1 || sequences.tokens[index] === TOKENS.d;
      lists.speakers[at] = token * rows + row;
      lists.boards[at] = (isOnLast ? lastBoard : 0) * rows + row;
      lists.moves[at] = sequences.moveTargets[index];
      lists.thinks[at] = sequences.thinkingMask[index];
      lists.winLoss[at] = sequences.winLossTargets[index + 1];
      lists.draws[at] = sequences.drawTargets[index + 2];
      choices[at] = isGame ? legal : [sequences.moveTargets[index]];
      shares[at] = isGame ? games!.policy[position] : [1];
    }
  }
  return {
    ...lists,
    choices: table(choices, (length) => new Int32Array(length).fill(NO_MOVE)),
    shares: table(shares, (length) => new Float32Array(length)),
  };
}
