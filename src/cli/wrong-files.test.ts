// What a stranger is told who gives a command the wrong file: what it is, or that it is empty, missing or a folder, in a line or two.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, test } from "vitest";
import { loadCommands } from "./commands.js";
import { runProgram } from "./program.js";
import { randomRecords } from "./testing.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-wrong-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);

const PGN = '[Event "?"]\n\n1. e4 e5 1-0\n';
const WRONG: Record<string, string | Uint8Array> = {
  empty: "",
  text: "hello, this is a text\n",
  pgn: PGN,
  png: Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13),
  onnx: Uint8Array.from([8, 8, 18, 7, ...Buffer.from("pytorch"), 0, 1, 2, 3]),
  lc0: Uint8Array.of(0x0d, 0xc0, 0x01, 0, 0, 0, 0, 0), // its magic number, and no more
  binary: Uint8Array.of(0x9b, 0xe0, 0x01, 0, 0, 0, 0, 0), // nobody knows what
};
const KINDS = [...Object.keys(WRONG), "folder", "missing"];
const SUFFIXES = ["", ".bin", ".jsonl", ".plain", ".bagz", ".parquet"];

for (const suffix of SUFFIXES) {
  for (const [kind, content] of Object.entries(WRONG)) writeFileSync(at(`${kind}${suffix}`), content);
  mkdirSync(at(`folder${suffix}`));
}
writeFileSync(at("good.bin"), randomRecords(500));
writeFileSync(at("good.csv"), "PuzzleId,FEN,Moves,Rating\n");
const OUT = at("out");
const kept = () => ["bin", "jsonl", "pgn", "onnx"].map((suffix) => `${OUT}.${suffix}`).filter(existsSync);
beforeEach(() => kept().forEach((path) => void rmSync(path)));

/** Command lines with FILE in the place of the wrong one, which of these it takes, and whether the name of a file counts. */
const LINES: { line: string; takes?: readonly string[]; records?: true }[] = [
  { line: "pgn check FILE", takes: ["pgn"] },
  { line: "data import FILE -o OUT.bin --value result", takes: ["pgn"] },
  { line: "data info FILE", records: true },
  { line: "data check FILE", records: true },
  { line: "data convert FILE OUT.jsonl", records: true },
  { line: "data shuffle FILE -o OUT.bin", records: true },
  { line: "data split FILE -o OUT.bin", records: true },
  { line: "data filter FILE -o OUT.bin --ply 1,", records: true },
  { line: "data dedupe FILE -o OUT.bin", records: true },
  { line: "data label FILE -o OUT.jsonl --engine builtin@ab --nodes 1", records: true },
  { line: "data variations FILE -o OUT.jsonl --player builtin@ab --nodes 1", records: true },
  { line: "data distil FILE -o OUT.bin --net nnue", records: true },
  { line: "data distil good.bin -o OUT.bin --net FILE" },
  { line: "data generate FILE@none -o OUT.pgn --games 1 --nodes 1" },
  { line: "selfplay FILE@ab -o OUT.bin --games 1 --nodes 1" },
  { line: "selfplay builtin@ab -o OUT.bin --games 1 --nodes 1 --openings FILE", takes: ["pgn"] },
  { line: "train FILE --data good.bin" },
  { line: "train nnue-tiny --data FILE", records: true },
  { line: "train residual-tiny --data good.bin --validation FILE", records: true },
  { line: "train --resume --run FILE" },
  { line: "sweep FILE" },
  { line: "learn FILE" },
  { line: "learn --resume --run FILE" },
  { line: "compare FILE" },
  { line: "report FILE -o OUT.html" },
  { line: "eval FILE --data good.bin" },
  { line: "eval residual --data FILE", records: true },
  { line: "export FILE OUT.onnx" },
  { line: "match FILE random --games 2 --nodes 1" },
  { line: "match random random --games 2 --nodes 1 --openings FILE", takes: ["pgn"] },
  { line: "match --spec FILE" },
  { line: "match --pgn FILE --resume" },
  { line: "tournament --spec FILE" },
  { line: "puzzles random FILE" },
  { line: "puzzles FILE@none good.csv" },
  { line: "suite random FILE" },
  { line: "agreement random FILE", takes: ["pgn"] },
  { line: "play FILE" },
  { line: "analyse FILE --nodes 1" },
  { line: "uci FILE" },
  { line: "nets FILE" },
  { line: "nnue eval FILE --fen x" },
  { line: "encode planes18 --fens FILE" },
  { line: "perft --suite FILE" },
  { line: "bench loop FILE --data good.bin" },
  { line: "bench infer FILE" },
  { line: "bench search FILE --depth 1 --passes 1" },
];

const SAYS: Record<string, RegExp> = {
  empty: /: the file is empty; expected /,
  pgn: /: this is a file of games \(PGN\); expected /,
  png: /: this is a PNG picture; expected /,
  onnx: /: this is an ONNX model; expected /,
  lc0: /: this is a network of lc0 or Maia; expected |of the family lc0|a network like this|damaged/,
  missing: /no such file|no such player|holds no run|no run of tabiya|There is no file|nothing says which contest/,
  folder: /this is a folder|no checkpoint in this folder|the folder has no files|holds no run|no run of tabiya|nothing says which contest/,
}; // biome-ignore format: a table

for (const { line, takes = [], records } of LINES) {
  test(`a wrong file is called what it is: tabiya ${line}`, async () => {
    for (const kind of KINDS.filter((each) => !takes.includes(each))) {
      for (const suffix of records ? SUFFIXES : [""]) {
        if (records && kind === "pgn" && suffix === "") continue; // without its suffix, no reader looks for games
        const file = at(kind + suffix);
        const argv = line.replaceAll("good.", at("good.")).replaceAll("OUT", OUT).replace("FILE", file).split(" ");
        let text = "";
        const write = (piece: string) => void (text += piece);
        const code = await runProgram(
          await loadCommands(argv),
          argv,
          { stdout: () => {}, stderr: write },
          { version: "0" },
        );
        const what = `${argv.join(" ")}\n${text}`;
        assert.equal(code, 1, what);
        assert.ok(!/\n\s+at |\.part|tabiya-networks/.test(text), what);
        assert.ok(text.includes(file), what);
        assert.ok(text.split("\n").length <= 8, what);
        const isRun = /--run|--pgn|compare|report/.test(line); // a folder is expected, or what stands beside a file
        if (SAYS[kind] && !(isRun && kind !== "missing" && kind !== "folder")) assert.match(text, SAYS[kind], what);
        assert.deepEqual(kept(), [], what);
      }
    }
  });
}
