import assert from "node:assert/strict";
import { test } from "vitest";
import { formatFen, formatSan, parseFen, parseSan, START_FEN } from "#chess";
import { formatPv } from "./lines.js";
import { formatTree, parseAny, parseTree, parseTyped } from "./pgn.js";
import { formatShared, parseShared } from "./share.js";
import { threatened } from "./threat.js";
import { endOf, GameTree, lineThrough } from "./tree.js";

/** A tree with these moves played, from the usual start. */
function played(...sans: string[]): GameTree {
  const tree = new GameTree(parseFen(START_FEN));
  for (const san of sans) tree.play(parseSan(tree.position, san)!);
  return tree;
}

test("a move that is there already is followed, another one makes a variation", () => {
  const tree = played("e4", "e5");
  tree.go(tree.root);
  tree.play(parseSan(tree.position, "e4")!);
  assert.equal(tree.root.children.length, 1);
  tree.play(parseSan(tree.position, "c5")!);
  assert.deepEqual(
    tree.root.children[0].children.map(({ san }) => san),
    ["e5", "c5"],
  );
});

test("going anywhere shows the position there, with the moves that led to it", () => {
  const tree = played("e4", "e5", "Nf3");
  const fen = formatFen(tree.position);
  const end = tree.current;
  tree.go(tree.root);
  assert.equal(formatFen(tree.position), START_FEN);
  tree.go(end);
  assert.equal(formatFen(tree.position), fen);
  assert.equal(tree.position.history.length, 3);
});

test("promoting a variation makes it the main line; removing one goes back to its parent", () => {
  const tree = played("e4", "e5");
  tree.go(tree.root);
  const d4 = tree.play(parseSan(tree.position, "d4")!);
  tree.promote(d4);
  assert.deepEqual(
    lineThrough(tree.root).map(({ san }) => san),
    ["d4"],
  );
  tree.remove(d4);
  assert.equal(tree.current, tree.root);
  assert.equal(endOf(tree.root).san, "e5");
});

const PGN = `[Event "A"]
[White "W"]
[Black "B"]
[Result "1-0"]

1. e4 { [%eval 0.3] a comment } e5 $6 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Nf3 Nc6 1-0
`;

test("a game with variations, comments and marks comes back as it was", () => {
  const { tree, tags, result } = parseTree(PGN);
  const text = formatTree(tree, tags, result);
  const again = parseTree(text);
  assert.equal(formatTree(again.tree, again.tags, again.result), text);
  assert.match(text, /1\.\.\. c5 2\. Nf3 \(2\. c3 d5\) 2\.\.\. d6/);
  assert.match(text, /a comment/);
  assert.match(text, /\$6/);
});

test("what is pasted is a FEN or a PGN by its looks, and trouble is said in words", () => {
  assert.equal(formatFen(parseAny(START_FEN).tree.start), START_FEN);
  assert.equal(parseAny("1. e4 e5").tree.root.children.length, 1);
  assert.throws(() => parseAny("hello there"), /is not a move/);
  assert.throws(() => parseAny(""), /no game/);
  assert.throws(() => parseAny("8/8/8/8/8/8/8/8 w - - 0 1"), /kings/);
});

test("ten thousand moves are read and walked", () => {
  const shuffle = "Nf3 Nf6 Ng1 Ng8 ".repeat(2_500);
  const { tree } = parseTree(`${shuffle}*`);
  const end = endOf(tree.root);
  assert.equal(end.ply, 10_000);
  tree.go(end);
  assert.equal(tree.position.history.length, 10_000);
});

test("a link holds the game and the place in it", () => {
  const tree = played("e4", "e5", "Nf3");
  tree.go(tree.root.children[0]);
  const again = parseShared(formatShared(tree))!;
  assert.equal(again.current.san, "e4");
  assert.equal(endOf(again.root).san, "Nf3");
  assert.equal(parseShared(""), undefined);
  assert.throws(() => parseShared("moves=e2e5"), /not legal/);
});

test("a link to a Chess960 game castles by king takes rook", () => {
  const tree = new GameTree(parseFen("4k3/8/8/8/8/8/8/1RK5 w B - 0 1", { chess960: true }));
  tree.play(parseTyped(tree.position, "c1b1")!);
  assert.equal(tree.current.san, "O-O-O");
  assert.equal(parseShared(formatShared(tree))!.current.san, "O-O-O");
});

test("typed moves may be SAN or UCI, and careless", () => {
  const position = parseFen(START_FEN);
  const wanted = parseSan(position, "Nf3");
  for (const text of ["Nf3", "nf3", "g1f3", "G1F3", " Nf3 "]) assert.equal(parseTyped(position, text), wanted);
  assert.equal(parseTyped(position, "Nf6"), undefined);
  assert.equal(parseTyped(position, ""), undefined);
});

test("a line is numbered and ends where it is not legal", () => {
  const line = formatPv(played("e4").position, ["e7e5", "g1f3", "e5e3"]);
  assert.deepEqual(
    line.map(({ text }) => text),
    ["1... e5", "2. Nf3"],
  );
});

test("a threat is what the other side would play, and in check there is none", () => {
  const position = threatened(played("e4", "e5", "Qh5").position)!;
  assert.equal(position.turn, "white");
  assert.ok(position.moves().some((move) => formatSan(position, move) === "Qxf7+"));
  assert.equal(threatened(played("e4", "e5", "Qh5", "g6", "Qxe5").position), undefined);
});
