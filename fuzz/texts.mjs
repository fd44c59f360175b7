// What people write: books, puzzles, test suites, recipes, names of players, contests.
import { readFileSync } from "node:fs";
import { crc32, deflateRawSync } from "node:zlib";
import { parseTask, solvePuzzle } from "#arena";
import { UserError } from "#base";
import { loadBook, parseContest } from "#data";
import { parsePlayer } from "#engine";
import { readPuzzles } from "#formats";
import { parseLearnRecipe } from "#learn";
import { parseRecipe, parseSetting, resolveRecipe } from "#training";
import { fileTarget, textTarget } from "./reader.mjs";

const bytes = (path) => new Uint8Array(readFileSync(new URL(path, import.meta.url)));

const EPD = `rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - hmvc 0; fmvn 1;
# a comment
r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3
nrkbbqrn/pppppppp/8/8/8/8/PPPPPPPP/NRKBBQRN w GBgb - 0 1
`;

/** An archive with one member, deflated or stored. */
function zip(name, content, method) {
  const data = method === 8 ? deflateRawSync(content) : Buffer.from(content);
  const fields = Buffer.alloc(26); // version, flags, method, time, date, checksum, two sizes, two lengths
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(method, 4);
  fields.writeUInt32LE(crc32?.(content) ?? 0, 10);
  fields.writeUInt32LE(data.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from("PK\x03\x04"), fields, Buffer.from(name), data]);
  const entry = Buffer.concat([Buffer.from("PK\x01\x02\x14\0"), fields, Buffer.alloc(14), Buffer.from(name)]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(entry.length, 8);
  end.writeUInt32LE(local.length, 12);
  return new Uint8Array(Buffer.concat([local, entry, Buffer.from("PK\x05\x06"), end]));
}

export const books = (random) =>
  fileTarget(random, {
    name: "book",
    corpus: async () => [
      new TextEncoder().encode(EPD),
      bytes("corpus/plain.pgn"),
      zip("book.epd", new TextEncoder().encode(EPD), 8),
      zip("book.pgn", bytes("corpus/plain.pgn"), 0),
    ],
    async read(path) {
      const book = await loadBook(path, 8);
      for (let i = 0; i < book.length; i++) book.at(i);
      return book.length > 0;
    },
  });

const PUZZLES = `PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags
00008,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,f2g3 e6e7 b2b1 b3c1 b1c1 h6c1,1798,77,95,8190,crushing hangingPiece long,https://lichess.org/787zsVup/black#48,
"0000D","5rk1/1p3ppp/pq3b2/8/8/1P1Q1N2/P4PPP/3R2K1 w - - 2 27",d3d6 f8d8 d6d8 f6d8,1501,74,96,30523,"advantage, ""x""",,
`;

export const puzzles = (random) =>
  textTarget(random, {
    corpus: [PUZZLES, PUZZLES.split("\n").slice(1).join("\n")],
    words: [",", '"', '""', "\n", "e2e4 ", "FEN", "Moves", "PuzzleId,FEN,Moves,Rating\n", " b - - 0 24"],
    async read(text) {
      const lines = (async function* () {
        yield* text.split("\n");
      })();
      const player = { choose: async (position) => ({ move: position.moves()[0] }) };
      let found = 0;
      for await (const puzzle of readPuzzles(lines, "x.csv")) {
        await solvePuzzle(player, puzzle, {});
        found++;
      }
      return found > 0;
    },
  });

export const epd = (random) =>
  textTarget(random, {
    corpus: [
      'r1bq2rk/pp3pbp/2p1p1pQ/7P/3P4/2PB1N2/PP3PPR/2KR4 w - - bm Qxh7+; id "WAC.004";',
      '1kr5/3n4/q3p2p/p2n2p1/PppB1P2/5BP1/1P2Q2P/3R2K1 w - - bm f5; id "Undermine.001"; c0 "f5=10, Be5+=2, Bf2=3, Bg4=2"; c7 "f5 Be5+ Bf2 Bg4"; c8 "10 2 3 2"; c9 "f4f5 d4e5 d4f2 f3g4";',
      "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1 am e4; bm e3;",
    ],
    words: ["bm ", "am ", ";", '"', "  ", "\t", 'id "', "c0 ", "=10, ", "c8", "c9", " 0 1 ", "a".repeat(40)],
    read: (line) => parseTask(line, "x.epd, line 1") !== undefined,
  });

// Short ones: the reader of YAML takes most of the time.
const RECIPES = ["family: nnue\nsize: tiny\nepochs: 4\nscoreScale: 400\n", "family: residual\nwidth: 8\nquick:\n  epochs: 1\n", "family: moe\nlearningRate: 0.001\n", "family: decoder\nsize: tiny\n"]; // biome-ignore format: a list
const LEARN_RECIPES = [
  "search: ab\ngenerations: 2\ntrain: { family: nnue, size: tiny }\nselfplay: { games: 4, nodes: 8 }\nmatch: { nodes: 4 }\n",
];
const YAML = [": ", "\n", "  ", "- ", "[", "]", "{", "}", "&a ", "*a", "!!", "|", ">", "'", "quick:\n  epochs: 1\n", "1e999", "-1", "null", "~", "true", "?", "<<: *a", "family: moe\n", "__proto__: 1\n"]; // biome-ignore format: words

export const recipes = (random) =>
  textTarget(random, {
    corpus: [...RECIPES, "learningRate=0.002"],
    words: YAML,
    read(text) {
      if (!text.includes("\n")) return parseSetting(text) !== undefined;
      return resolveRecipe({ data: ["x.bin"], ...parseRecipe(text, "x.yaml") }, "x.yaml") !== undefined;
    },
  });

export const learnRecipes = (random) =>
  textTarget(random, {
    corpus: LEARN_RECIPES,
    words: YAML,
    read: (text) => parseLearnRecipe(text, "x.yaml") !== undefined,
  });

export const players = (random) =>
  textTarget(random, {
    corpus: ["residual@mcts:800?Noise=true&Temperature=0.5", "a@b.nnue@ab:200", "random", "uci:/bin/sf?Hash=16&Threads=1", "uci:engine --flag%20x"], // biome-ignore format: a list
    words: ["@", ":", "?", "&", "=", "%", "%zz", "%00", "uci:", "@mcts", ":0", ":99999999999999999999"],
    read: (text) => parsePlayer(text) !== undefined,
  });

const CONTESTS = [
  {
    kind: "match",
    players: ["random", "builtin@ab:100"],
    games: 10,
    timeControl: "10+0.1",
    sprt: { elo0: 0, elo1: 5 },
  },
  {
    kind: "tournament",
    players: ["a", "b", "c"],
    rounds: 3,
    timeControl: "40/60",
    openings: { file: "x.pgn", plies: 8 },
  },
  {
    kind: "games",
    players: ["a"],
    limits: { nodes: 100 },
    adjudication: { resign: { moves: 3, scoreCp: 600 } },
    seed: 2,
  },
];

export const contests = (random) =>
  textTarget(random, {
    corpus: CONTESTS.map((spec) => JSON.stringify(spec)),
    words: [
      "null",
      "-1",
      "1e400",
      "{}",
      "[]",
      '""',
      "true",
      '"kind":',
      '"match"',
      '"games":',
      "10+0.1",
      "/",
      '"__proto__":{}',
      "[[[[[",
    ],
    read(text) {
      let value;
      try {
        value = JSON.parse(text);
      } catch (error) {
        throw new UserError("JSON", String(error)); // as the reader of such files says
      }
      return parseContest(value) !== undefined;
    },
  });
