// Reads the usual form of a line of valued moves, {"fen":"...","moves":{"e2e4":31,"g1f3":"#2",...}}, straight from its
// bytes: JSON.parse and an object with a key for each move take ten times as long. Any other form is left to JSON.parse.
import { MOVE_TABLES } from "#encodings";
import { cpOf } from "../batches/move-value.js";

const { actions1968 } = MOVE_TABLES;
const [QUOTE, COMMA, COLON, SPACE, MINUS, HASH, OPEN, CLOSE] = [...'",: -#{}'].map((text) => text.charCodeAt(0));
const [FEN, MOVES] = ['"fen"', '"moves"'].map((text) => new TextEncoder().encode(text));
const PROMOTIONS = "qrbn";

const keyOf = (from: number, to: number, promotion: number) => (promotion << 12) | (from << 6) | to;

/** The numbers of moves by their squares and the place of the promotion in " qrbn"; -1 for none. */
const ACTIONS = (() => {
  const table = new Int16Array(5 << 12).fill(-1);
  for (let action = 0; action < actions1968.size; action++) {
    const { from, to, promotion } = actions1968.named(action, false)!;
    const letter = promotion === undefined ? "" : promotion === "knight" ? "n" : promotion[0];
    table[keyOf(from, to, letter === "" ? 0 : 1 + PROMOTIONS.indexOf(letter))] = action;
  }
  return table;
})();

/** What the last line held. */
export class ActionLine {
  fenStart = 0; // in the bytes
  fenEnd = 0;
  count = 0;
  readonly actions = new Int16Array(256);
  readonly scores = new Int32Array(256);
  private bytes: Uint8Array = new Uint8Array(0);
  private at = 0;

  /** Whether the line has the usual form; then the fields say what it holds. Nothing is checked against the rules of chess. */
  read(bytes: Uint8Array): boolean {
    this.bytes = bytes;
    this.at = 0;
    this.count = 0;
    if (!this.skip(OPEN) || !this.word(FEN) || !this.skip(COLON) || !this.skip(QUOTE)) return false;
    this.fenStart = this.at;
    this.fenEnd = bytes.indexOf(QUOTE, this.at);
    this.at = this.fenEnd + 1;
    if (this.fenEnd < 0 || !this.skip(COMMA) || !this.word(MOVES) || !this.skip(COLON) || !this.skip(OPEN))
      return false;
    do {
      if (!this.move()) return false;
    } while (this.skip(COMMA));
    return this.skip(CLOSE) && this.skip(CLOSE);
  }

  private move(): boolean {
    if (this.count === this.actions.length || !this.skip(QUOTE)) return false;
    const from = this.square();
    const to = this.square();
    if (from < 0 || to < 0) return false;
    let promotion = 0;
    if (this.bytes[this.at] !== QUOTE) promotion = 1 + PROMOTIONS.indexOf(String.fromCharCode(this.bytes[this.at++]));
    if (!this.skip(QUOTE) || !this.skip(COLON)) return false;
    const action = ACTIONS[keyOf(from, to, promotion)];
    const isMate = this.skip(QUOTE);
    if (isMate && !this.skip(HASH)) return false;
    const number = this.number();
    if (action < 0 || number === undefined || (isMate && !this.skip(QUOTE))) return false;
    this.actions[this.count] = action;
    this.scores[this.count++] = isMate ? cpOf(`#${number}`) : number;
    return true;
  }

  /** Passes a character, with spaces before it. */
  private skip(char: number): boolean {
    while (this.bytes[this.at] === SPACE) this.at++;
    if (this.bytes[this.at] !== char) return false;
    this.at++;
    return true;
  }

  private word(word: Uint8Array): boolean {
    while (this.bytes[this.at] === SPACE) this.at++;
    for (const char of word) if (this.bytes[this.at++] !== char) return false;
    return true;
  }

  private square(): number {
    const file = this.bytes[this.at++] - 97;
    const rank = this.bytes[this.at++] - 49;
    return file >= 0 && file < 8 && rank >= 0 && rank < 8 ? rank * 8 + file : -1;
  }

  /** A whole number; undefined if there is none, or if it goes on as a fraction. */
  private number(): number | undefined {
    while (this.bytes[this.at] === SPACE) this.at++;
    const isNegative = this.bytes[this.at] === MINUS;
    if (isNegative) this.at++;
    const start = this.at;
    let value = 0;
    for (let digit = this.bytes[this.at] - 48; digit >= 0 && digit <= 9; digit = this.bytes[++this.at] - 48) {
      value = value * 10 + digit;
    }
    const next = this.bytes[this.at];
    const isEnd = next === COMMA || next === CLOSE || next === QUOTE || next === SPACE;
    if (this.at === start || this.at > start + 6 || !isEnd) return undefined;
    return isNegative ? -value : value;
  }
}
