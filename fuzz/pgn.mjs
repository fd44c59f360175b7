import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { formatFen } from "#chess";
import { formatGame, parseGames } from "#formats";
import { mutate } from "./mutate.mjs";

const FOLDER = new URL("corpus/", import.meta.url);
const WORDS = [
  "1. ", "1... ", " 1-0 ", " 1/2-1/2 ", "*", "{", "}", "(", ")", ";", "\n%", "$5 ", "--", "O-O", "[%eval 0.3]", "[%eval #-2]",
  "[%clk 0:00:01]", "+0.31/7 0.1s", "-M3/7 0.1s", "\0", "♘f3", "[", '[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n', '[Variant "Chess960"]\n', '\n\n[Event "x"]\n', '"]', "\\", "e.p.",
]; // biome-ignore format: a list of words

/** Everything a line of moves holds; every move is checked against the legal ones on the way. */
function content(line) {
  const position = line.start;
  const fen = formatFen(position);
  for (const move of line.moves) position.play(move); // throws if it is not legal
  const plies = Array.from({ length: line.moves.length + 1 }, (_, ply) => ply);
  return {
    fen,
    moves: [...line.moves],
    evals: [...line.evals],
    clocks: [...line.clocksMs],
    comments: plies.map((ply) => line.comments(ply).map((text) => text.replaceAll("}", ")"))),
    nags: plies.map((ply) => line.nags(ply)),
    variations: plies.map((ply) => line.variations(ply, () => {}).map(content)),
  };
}

/** Writes broken variations as if they were not there. */
const mended = (line) => ({
  tags: line.tags,
  result: line.result,
  start: line.start,
  moves: line.moves,
  evals: line.evals,
  clocksMs: line.clocksMs,
  comments: (ply) => line.comments(ply),
  nags: (ply) => line.nags(ply),
  variations: (ply) => line.variations(ply, () => {}).map(mended),
});

/** Any text gives games and reports; the games have legal moves only and are written and read back equal. */
export function create(random) {
  const corpus = readdirSync(FOLDER).map((name) => readFileSync(new URL(name, FOLDER), "utf8"));
  return {
    next: () => mutate(random, corpus, WORDS),
    check(text) {
      // Half of the texts as Latin-1, so that bytes beyond ASCII are no valid UTF-8.
      const bytes =
        text.length % 2 ? new TextEncoder().encode(text) : Uint8Array.from(text, (char) => char.charCodeAt(0));
      const games = parseGames(bytes, {
        onBad: (error) => assert.ok(error.game > 0 && error.line > 0 && error.reason),
      });
      for (const game of games) {
        if (game.unsupportedVariant !== undefined) {
          assert.equal(game.plies, 0);
          continue;
        }
        const written = formatGame(mended(game));
        const read = parseGames(written);
        assert.equal(read.length, 1, written);
        assert.equal(read[0].result, game.result);
        assert.deepEqual(content(read[0]), content(game), written);
        for (const [name, value] of game.tags) {
          if (!/^\w+$/.test(name) || /^(FEN|SetUp|Variant|Result)$/i.test(name)) continue;
          assert.equal(read[0].tags.get(name), value.replace(/\t+/g, " "));
        }
      }
      return games.length > 0;
    },
  };
}
