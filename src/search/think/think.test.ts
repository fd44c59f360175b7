import assert from "node:assert/strict";
import { test } from "vitest";
import { formatFen, type Position, parseFen, START_FEN } from "#chess";
import { defaultValues } from "../options.js";
import { THINK_OPTIONS, type ThinkSettings } from "./options.js";
import { Think } from "./think.js";
import { BOARD_TOKENS, MOVE_TOKENS, type Speech, type ThoughtWriter } from "./writer.js";

/** Likes the first legal moves, goes on as long as it may, and notes what it read since it last began. */
class NotingWriter implements ThoughtWriter {
  tokens = 0;
  readonly room = 4096;
  read: string[] = [];
  begins = 0;

  private speech(position: Position): Speech {
    const moves = position.moves();
    return { moves, shares: Float32Array.from(moves, (_, i) => 1 / (i + 2)), goesOn: 1 };
  }
  private note(tokens: number, what: string) {
    this.tokens += tokens;
    this.read.push(what);
  }
  async begin(position: Position) {
    this.tokens = 0;
    this.read = [];
    this.begins++;
    this.note(BOARD_TOKENS, formatFen(position));
    return this.speech(position);
  }
  async sign(sign: string, position: Position) {
    this.note(1, sign);
    return this.speech(position);
  }
  async move(_position: Position, move: number) {
    this.note(MOVE_TOKENS, `move ${move}`);
    return { value: 0, draw: 0 };
  }
  value = async () => 0;
  async board(position: Position) {
    this.note(BOARD_TOKENS, formatFen(position));
    return { ...this.speech(position), wrongTokens: 0 };
  }
  close = async () => {};
}

async function thoughtWith(content: ThinkSettings["content"]) {
  const writer = new NotingWriter();
  const think = new Think(writer, { ...defaultValues(THINK_OPTIONS), content });
  const report = await think.search(parseFen(START_FEN), {});
  return { read: writer.read, begins: writer.begins, tokens: writer.tokens, thoughts: report.thoughts ?? [] };
}

test("shuffled thoughts are the same moves and boards in another order", async () => {
  const own = await thoughtWith("own");
  const shuffled = await thoughtWith("shuffled");
  assert.equal(own.begins, 1);
  assert.equal(shuffled.begins, 2);
  assert.equal(shuffled.tokens, own.tokens);
  assert.notDeepEqual(shuffled.read, own.read);
  assert.deepEqual([...shuffled.read].sort(), [...own.read].sort());
  // Signs stay where they were: what is shuffled is what stands between them.
  const signs = (read: string[]) => read.map((word) => (/^(start|variation|end)$/.test(word) ? word : ""));
  assert.deepEqual(signs(shuffled.read), signs(own.read));
});

test("foreign thoughts follow the true board, are as long, and are of other positions", async () => {
  const own = await thoughtWith("own");
  const foreign = await thoughtWith("foreign");
  assert.equal(foreign.read[0], own.read[0]);
  assert.equal(foreign.tokens, own.tokens);
  const boards = (read: string[]) => read.slice(1).filter((word) => word.includes("/"));
  assert.equal(boards(foreign.read).length, boards(own.read).length);
  for (const board of boards(foreign.read)) assert.ok(!own.read.includes(board));
  assert.deepEqual(foreign.thoughts, []); // they are not thoughts about this position
});

/** Takes the first move it thinks of to be worth nothing, and the n-th n tenths more. */
class ValuingWriter extends NotingWriter {
  private firsts = 0;

  override async move(position: Position, move: number) {
    await super.move(position, move);
    if (formatFen(position) !== START_FEN) return { value: -0.1 * this.firsts, draw: 0 }; // the opponent's move
    return { value: 0.1 * ++this.firsts, draw: 0 };
  }
}

test("weighed thoughts change the first sight by what each of them ends in", async () => {
  const best = async (settings: Partial<ThinkSettings>) => {
    const think = new Think(new ValuingWriter(), { ...defaultValues(THINK_OPTIONS), ...settings });
    const { lines, moves = [] } = await think.search(parseFen(START_FEN), {});
    return { move: lines[0].pv[0], shares: moves.map(({ share = 0 }) => share), moves: moves.map(({ move }) => move) };
  };
  const said = await best({});
  assert.equal(said.move, said.moves[0]);
  for (const depth of [1, 2]) {
    const weighed = await best({ weigh: 100, depth });
    assert.equal(weighed.move, weighed.moves[2]); // the last of three variations
  }
  const slightly = await best({ weigh: 1, depth: 1 });
  assert.ok(Math.abs(slightly.shares.reduce((a, b) => a + b) - 1) < 1e-6);
  const odds = (shares: readonly number[], move: number) => shares[move] / shares[3];
  assert.ok(Math.abs(odds(slightly.shares, 0) / odds(said.shares, 0) - Math.exp(-0.1)) < 1e-5); // 0.1 of a mean of 0.2
  assert.ok(Math.abs(odds(slightly.shares, 1) / odds(said.shares, 1) - 1) < 1e-5);
});
