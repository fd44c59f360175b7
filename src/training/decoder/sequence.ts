/**
 * Games and thoughts as the tokens a decoder reads, with what each of its heads is to say at each of them: the target
 * tensors of ChessDecoder's document, row by row.
 *
 * A position of a game is its board (68 tokens), the move, win minus loss, and the share of draws. The last two are one
 * token each; the numbers they hold stand in `values`. They tell what the move was worth to whoever made it, and follow
 * it, so that whatever predicts them has not seen them.
 */
import { assert, type Random } from "#base";
import { BOARD_INDEX_OF_TOKEN, BOARD_TOKENS, tokenId } from "#encodings";
import { NO_SLOT } from "#models";

/** Where a head has nothing to learn. */
export const IGNORE = -100;

export const TOKENS = {
  pad: tokenId("pad"),
  wl: tokenId("wl_value"),
  d: tokenId("d_value"),
  startThink: tokenId("start_think"),
  endThink: tokenId("end_think"),
  endVariation: tokenId("end_var"),
};
const boardIndex = (name: string): number => BOARD_INDEX_OF_TOKEN[tokenId(name)];
const GENERIC_MOVE = boardIndex("generic_move");
const CONTINUE_VARIATION = boardIndex("continue_var");
const NEW_VARIATION = boardIndex("new_variation");

/** What a move is worth to whoever makes it. */
export interface Worth {
  winLoss: number; // win minus loss, -1 to 1
  draw: number; // 0 to 1
}

/** How far what a network is shown of a series of moves is off what it is to learn of them. */
export type Noise = Worth;

/** An error that is as large as `deviation` (a standard deviation) has it. */
export const drawNoise = (deviation: number, random: Random): Noise => ({
  winLoss: deviation * random.normal(),
  draw: deviation * random.normal(),
});

/** What a worth looks like with an error; `side` is 1 or -1, for the player whose win it is counted by and the other. */
export const showNoisy = ({ winLoss, draw }: Worth, noise: Noise, side: number): Worth => ({
  winLoss: Math.max(-1, Math.min(1, winLoss + side * noise.winLoss)),
  draw: Math.max(0, Math.min(1, draw + noise.draw)),
});

/** A position and the move made in it. */
export interface Step extends Worth {
  board: ArrayLike<number>; // 68 tokens
  move: number; // in moves1924
  shown?: Worth; // what its tokens hold, if not what is to be learnt
}

/** A move that is thought of, and the board after it. */
export type ThoughtStep = Step;

/** A position that is thought about before a move is made. */
export interface Thought extends Step {
  variations: readonly (readonly ThoughtStep[])[]; // each begins with a move of the position
}

/** The arrays of `rows` sequences of `length` tokens each, one behind the other. */
export class SequenceRows {
  readonly tokens: Int32Array<ArrayBuffer>; // of the full vocabulary
  readonly values: Float32Array<ArrayBuffer>; // what a wl_value or d_value token holds
  readonly slots: Int32Array<ArrayBuffer>; // 0..67 in a board, else NO_SLOT
  readonly blocks: Int32Array<ArrayBuffer>; // the tokens of a board share a number; every other has its own
  readonly boardTargets: Int32Array<ArrayBuffer>; // of the board head's 41
  readonly changes: Float32Array<ArrayBuffer>; // 1 where that is a token of a board that the last move changed
  readonly moveTargets: Int32Array<ArrayBuffer>; // of moves1924
  readonly moveMask: Uint8Array<ArrayBuffer>; // 1 where the policy is to say it
  readonly thinkingMask: Uint8Array<ArrayBuffer>; // 1 where the thinking policy is
  readonly winLossTargets: Float32Array<ArrayBuffer>; // at the token of the move
  readonly drawTargets: Float32Array<ArrayBuffer>; // at the wl_value token

  constructor(
    readonly rows: number,
    readonly length: number,
  ) {
    const size = rows * length;
    this.tokens = new Int32Array(size).fill(TOKENS.pad);
    this.values = new Float32Array(size);
    this.slots = new Int32Array(size).fill(NO_SLOT);
    this.blocks = Int32Array.from({ length: size }, (_, i) => i % length);
    this.boardTargets = new Int32Array(size).fill(IGNORE);
    this.changes = new Float32Array(size);
    this.moveTargets = new Int32Array(size).fill(IGNORE);
    this.moveMask = new Uint8Array(size);
    this.thinkingMask = new Uint8Array(size);
    this.winLossTargets = new Float32Array(size).fill(IGNORE);
    this.drawTargets = new Float32Array(size).fill(IGNORE);
  }

  /**
   * Writes positions that follow one another in a game; what is left of the row stays padding. A board that is skipped, never
   * the first, is left to the network to imagine: its move follows the value of the last one.
   */
  writeGame(row: number, steps: readonly Step[], isSkipped: (step: number) => boolean = () => false): void {
    const writer = new RowWriter(this, row);
    for (const [i, step] of steps.entries()) {
      const speaker = i > 0 && isSkipped(i) ? writer.last : writer.board(step.board, steps[i - 1]?.board);
      writer.expect(GENERIC_MOVE);
      writer.move(step.move, step, speaker, "policy");
    }
    writer.finish();
  }

  /** Writes a position with what is thought about it before its move. */
  writeThought(row: number, { board, move, variations, ...worth }: Thought): void {
    const writer = new RowWriter(this, row);
    writer.board(board);
    let speaker = writer.token(TOKENS.startThink);
    for (const variation of variations) {
      writer.expect(NEW_VARIATION);
      variation.forEach((step, i) => {
        if (i > 0) writer.expect(CONTINUE_VARIATION);
        writer.move(step.move, step, speaker, "thinking");
        speaker = writer.board(step.board, i > 0 ? variation[i - 1].board : board);
      });
      speaker = writer.token(TOKENS.endVariation);
    }
    speaker = writer.token(TOKENS.endThink);
    writer.expect(GENERIC_MOVE);
    writer.move(move, worth, speaker, "policy");
    writer.finish();
  }
}

/** Tokens that thinking of so many moves in so many variations takes, with the board before and the move after. */
export const thoughtTokens = (moves: number, variations: number): number =>
  BOARD_TOKENS + 1 + moves * (BOARD_TOKENS + 3) + variations + 1 + 3;

/** Writes a row token by token. Each token is the board head's target at the one before it, unless `expect` said another. */
class RowWriter {
  private at: number;
  private readonly start: number;
  private readonly end: number;
  private expected: number | undefined;

  constructor(
    private readonly to: SequenceRows,
    row: number,
  ) {
    this.start = this.at = row * to.length;
    this.end = this.start + to.length;
  }

  /** The index of the last token. */
  get last(): number {
    return this.at - 1;
  }

  /** What the board head is to say at the last token, instead of the one that follows. */
  expect(boardIndex: number): void {
    this.expected = boardIndex;
  }

  /** Writes a token; returns its index. */
  token(id: number, target = BOARD_INDEX_OF_TOKEN[id]): number {
    assert(this.at < this.end, "a sequence is longer than its row");
    const { to, at } = this;
    to.tokens[at] = id;
    if (at > this.start) to.boardTargets[at - 1] = this.expected ?? target;
    this.expected = undefined;
    return this.at++;
  }

  /**
   * Writes a board and what a move made of the one before it; returns the index of its last token. The first board of a row
   * has none before it, cannot be known, and is not learnt.
   */
  board(tokens: ArrayLike<number>, before?: ArrayLike<number>): number {
    const { to } = this;
    const block = this.at - this.start;
    for (let slot = 0; slot < BOARD_TOKENS; slot++) {
      const index = before ? this.token(tokens[slot]) : this.token(tokens[slot], IGNORE);
      if (before && tokens[slot] !== before[slot]) to.changes[index - 1] = 1;
      to.slots[index] = slot;
      to.blocks[index] = block;
    }
    return this.last;
  }

  /** Writes a move and what it is worth; the head that speaks at the index `speaker` is to say it. */
  move(
    move: number,
    { winLoss, draw, shown = { winLoss, draw } }: Worth & { shown?: Worth },
    speaker: number,
    head: "policy" | "thinking",
  ): void {
    const { to } = this;
    to.moveTargets[speaker] = move;
    (head === "policy" ? to.moveMask : to.thinkingMask)[speaker] = 1;
    to.winLossTargets[this.token(move, GENERIC_MOVE)] = winLoss;
    const index = this.token(TOKENS.wl);
    to.values[index] = shown.winLoss;
    to.drawTargets[index] = draw;
    to.values[this.token(TOKENS.d)] = shown.draw;
  }

  /** The rest is padding; its blocks are its own indices already. */
  finish(): void {
    assert(this.expected === undefined, "something was expected of no token");
  }
}
