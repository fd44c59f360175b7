import type { Move, Position } from "#chess";
import { BOARD_INDEX_OF_TOKEN, BOARD_TOKENS, encodeBoard68, MOVE_TABLES, tokenId } from "#encodings";
import { type Decoder, DecoderReader, type Spoken } from "#models";
import type { BoardSpeech, Speech, ThoughtWriter, Worth } from "#search";
import { softmax } from "./evaluators/softmax.js";

const { moves1924 } = MOVE_TABLES;
const SIGNS = { start: tokenId("start_think"), variation: tokenId("end_var"), end: tokenId("end_think") };
const said = (name: string): number => BOARD_INDEX_OF_TOKEN[tokenId(name)];
const [CONTINUE, END_VARIATION, NEW, END_THINK] = ["continue_var", "end_var", "new_variation", "end_think"].map(said);

/** A decoder as what a thinking search asks. The boards it reads are true; where it would have written another is counted. */
export class DecoderWriter implements ThoughtWriter {
  private squares = new Float32Array(moves1924.size); // what those of the root say of its moves
  private expected: Float32Array = new Float32Array(0); // what the board head said before a board
  private readonly tokensOfBoard = new Uint16Array(BOARD_TOKENS);

  private constructor(private readonly reader: DecoderReader) {}

  static open = async (network: Decoder, threads: number): Promise<DecoderWriter> =>
    new DecoderWriter(await DecoderReader.open(network, { threads }));

  get tokens(): number {
    return this.reader.length;
  }

  get room(): number {
    return this.reader.room;
  }

  async begin(position: Position): Promise<Speech> {
    await this.reader.truncate(0);
    encodeBoard68(position, this.tokensOfBoard);
    const spoken = await this.reader.board(this.tokensOfBoard);
    this.squares = spoken.squares.slice();
    return speechOf(position, spoken.policy, 1);
  }

  async sign(sign: "start" | "variation" | "end", position: Position): Promise<Speech> {
    const spoken = await this.reader.token(SIGNS[sign]);
    const logits = sign === "end" ? spoken.policy : spoken.thinking;
    const whole = logits.map((logit, move) => logit + this.squares[move]);
    return speechOf(position, whole, share(spoken, NEW, END_THINK));
  }

  async move(position: Position, move: Move): Promise<Worth> {
    const { winLoss: value } = await this.reader.token(moves1924.encode(position, move));
    const { draw } = await this.reader.winLoss(value);
    this.expected = (await this.reader.draw(draw)).board;
    return { value, draw };
  }

  async value(position: Position, move: Move): Promise<number> {
    const { length } = this.reader;
    const { winLoss } = await this.reader.token(moves1924.encode(position, move));
    await this.reader.truncate(length); // so that the next move is valued in its stead
    return winLoss;
  }

  async board(position: Position): Promise<BoardSpeech> {
    encodeBoard68(position, this.tokensOfBoard);
    const spoken = await this.reader.board(this.tokensOfBoard);
    const { predicted } = spoken;
    // The token before a board says its first one, the board's each the next; what the last one says is no square.
    const isStart = argmax(this.expected) === BOARD_INDEX_OF_TOKEN[this.tokensOfBoard[0]];
    let wrongTokens = isStart ? 0 : 1;
    for (let slot = 1; slot < BOARD_TOKENS; slot++)
      if (predicted[slot - 1] !== BOARD_INDEX_OF_TOKEN[this.tokensOfBoard[slot]]) wrongTokens++;
    return { ...speechOf(position, spoken.thinking, share(spoken, CONTINUE, END_VARIATION)), wrongTokens };
  }

  close(): Promise<void> {
    return this.reader.close();
  }
}

function speechOf(position: Position, logits: Float32Array, goesOn: number): Speech {
  const moves = position.moves();
  const shares = softmax(Float32Array.from(moves, (move) => logits[moves1924.encode(position, move)]));
  return { moves, shares, goesOn };
}

/** How much likelier one of two signs is, 0 to 1. */
const share = ({ board }: Spoken, yes: number, no: number): number => 1 / (1 + Math.exp(board[no] - board[yes]));

const argmax = (list: ArrayLike<number>): number => {
  let best = 0;
  for (let i = 1; i < list.length; i++) if (list[i] > list[best]) best = i;
  return best;
};
