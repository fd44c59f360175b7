import type { Move, Position } from "#chess";

/** What a move is worth to whoever makes it. */
export interface Worth {
  value: number; // win minus loss, -1 to 1
  draw: number; // 0 to 1
}

/** What is likely to be said next. */
export interface Speech {
  moves: readonly Move[]; // the legal ones of the position spoken of, in the order of `position.moves()`
  shares: Float32Array; // of each; they add up to 1
  goesOn: number; // how likely it is that another move, or another variation, follows: 0 to 1
}

/** What is said of a board in thought. */
export interface BoardSpeech extends Speech {
  wrongTokens: number; // tokens of the board that the network would have written otherwise
}

/**
 * A network that writes down its thoughts: what a thinking search knows of it. A thought is a position, then variations,
 * each move with its value and the board after it, then the move to play. Everything read is paid for in tokens.
 */
export interface ThoughtWriter {
  /** Forgets all and reads a position; what would be played at once. */
  begin(position: Position): Promise<Speech>;
  /** Begins to think, ends a variation: what the next variation may begin with. Ends thinking: what to play. */
  sign(sign: "start" | "variation" | "end", position: Position): Promise<Speech>;
  /** Reads a move of a position and what it takes it to be worth. */
  move(position: Position, move: Move): Promise<Worth>;
  /** What a move is worth, -1 to 1, at the end of a sequence, which is left as it was. */
  value(position: Position, move: Move): Promise<number>;
  /** Reads the position that a move led to; what may be thought of next in it. */
  board(position: Position): Promise<BoardSpeech>;
  readonly tokens: number; // read since `begin`
  readonly room: number; // for more tokens
  close(): Promise<void>;
}

/** Tokens that each step costs. */
export const MOVE_TOKENS = 3;
export const BOARD_TOKENS = 68;
