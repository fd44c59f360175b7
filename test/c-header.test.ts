// The C header against our own evaluation: the same integers, compiled by whatever C compiler is here.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { parseFen, START_FEN } from "#chess";
import { readNnueNetwork, type WideWeights, writeRawWide } from "#formats";
import { NnueEvaluator, randomPositions, syntheticWide } from "#models";

const folder = mkdtempSync(join(tmpdir(), "tabiya-c-"));
afterAll(() => rmSync(folder, { recursive: true }));
const compiler = ["cc", "gcc", "clang"].find((name) => spawnSync(name, ["--version"]).status === 0);
if (!compiler) console.log("No C compiler here: include/tabiya-nnue.h is not tested.");

// Reads boards of 64 bytes, each followed by who moves; values each anew, and once more by accumulators that follow from the
// board before, square by square.
const PROGRAM = `
#include <stdio.h>
#include <stdlib.h>
#include "tabiya-nnue.h"

static int follow(const TabiyaNet *net, const unsigned char *before, const unsigned char *board, int black) {
  static int16_t acc[2][TABIYA_MAX_HIDDEN];
  static int started = 0;
  int pieces = 0;
  for (int color = 0; color < 2; color++) {
    int from = tabiya_king(before, color), to = tabiya_king(board, color);
    if (!started || tabiya_needs_refresh(net, color, from, to)) { tabiya_refresh(net, acc[color], board, color); continue; }
    for (int s = 0; s < 64; s++) {
      if (before[s] == board[s]) continue;
      if (before[s]) tabiya_remove(net, acc[color], color, to, before[s], s);
      if (board[s]) tabiya_add(net, acc[color], color, to, board[s], s);
    }
  }
  started = 1;
  for (int s = 0; s < 64; s++) pieces += board[s] != 0;
  return tabiya_output(net, acc[black], acc[!black], pieces);
}

int main(int argc, char **argv) {
  FILE *file = fopen(argv[1], "rb");
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  void *bytes = malloc(size);
  if (argc < 3 || fread(bytes, 1, size, file) != size) return 2;
  TabiyaNet net;
  const char *problem = tabiya_open(&net, bytes, size);
  if (problem) { printf("%s\\n", problem); return 1; }
  FILE *boards = fopen(argv[2], "rb");
  unsigned char before[65] = {0}, board[65];
  while (fread(board, 1, 65, boards) == 65) {
    printf("%d %d\\n", tabiya_evaluate(&net, board, board[64]), follow(&net, before, board, board[64]));
    memcpy(before, board, 65);
  }
  return 0;
}
`;

const positions = [parseFen(START_FEN), ...randomPositions(1_500, 5)];

/** Boards as the header wants them. */
function boards(): Uint8Array {
  const bytes = new Uint8Array(65 * positions.length);
  positions.forEach((position, i) => {
    const roles = ["pawn", "knight", "bishop", "rook", "queen", "king"];
    for (const { square, role, color } of position.pieces())
      bytes[65 * i + square] = (roles.indexOf(role) + 1) | (color === "black" ? 8 : 0);
    bytes[65 * i + 64] = position.turn === "black" ? 1 : 0;
  });
  return bytes;
}

const NETWORKS: Record<string, () => WideWeights> = {
  "the network of the box": () => readNnueNetwork(readFileSync("nets/768x256.tnn"), "box") as WideWeights,
  "king buckets, mirrored, eight outputs": () =>
    syntheticWide(3, {
      hidden: 64,
      kingBuckets: Array.from({ length: 64 }, (_, square) => (square >> 3) % 4),
      mirrored: true,
      outputs: 8,
    }),
};

for (const [name, build] of Object.entries(NETWORKS)) {
  test.skipIf(!compiler)(`the C header gives our integers: ${name}`, () => {
    const weights = build();
    const file = (base: string) => join(folder, base);
    writeFileSync(file("net.raw"), writeRawWide(weights));
    writeFileSync(file("boards"), boards());
    writeFileSync(file("main.c"), PROGRAM);
    const flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-I", "include"];
    const compiled = spawnSync(compiler!, [...flags, file("main.c"), "-o", file("main")], { encoding: "utf8" });
    assert.equal(compiled.status, 0, compiled.stderr);
    const { stdout, status } = spawnSync(file("main"), [file("net.raw"), file("boards")], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
    const evaluator = new NnueEvaluator(weights);
    const expected = positions.map((position) => evaluator.evaluate(position));
    assert.deepEqual(
      stdout.trim().split("\n"),
      expected.map((value) => `${value} ${value}`),
    );
    assert.ok(new Set(expected).size > 100, "the network says different things");
    writeFileSync(file("short.raw"), writeRawWide(weights).subarray(0, 5_000));
    const cut = spawnSync(file("main"), [file("short.raw"), file("boards")], { encoding: "utf8" });
    assert.deepEqual([cut.status, cut.stdout], [1, "a file that was cut off, or has something behind it\n"]);
  });
}
