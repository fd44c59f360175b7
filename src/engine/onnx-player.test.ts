import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { formatUci, parseFen, START_FEN } from "#chess";
import { exportNetwork, type FamilyName, MOE_SIZES, Moe, networkBytes, RESIDUAL_SIZES, Residual, randomPositions } from "#models"; // biome-ignore format: one line
import { resolvePlayer } from "./players.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-onnx-"));
afterAll(() => rmSync(folder, { recursive: true }));

async function bestMoves(player: string): Promise<string[]> {
  const opened = await resolvePlayer(player);
  try {
    const moves: string[] = [];
    for (const position of [parseFen(START_FEN), ...randomPositions(5, 7)])
      moves.push(formatUci(position, (await opened.choose(position, { nodes: 8 })).move));
    return moves;
  } finally {
    await opened.close();
  }
}

const NETWORKS: [FamilyName, Residual | Moe][] = [
  ["residual", new Residual(RESIDUAL_SIZES.tiny, new Random(1))],
  ["moe", new Moe({ ...MOE_SIZES.tiny, turned: true }, new Random(1))],
];

for (const [family, network] of NETWORKS) {
  test(`a ${family} network plays the same as weights and as an ONNX file that we exported`, async () => {
    const path = (suffix: string) => join(folder, `${family}.${suffix}`);
    const { bytes } = await exportNetwork(family, network, "onnx", randomPositions(8, 1));
    writeFileSync(path("onnx"), bytes);
    writeFileSync(path("safetensors"), networkBytes(family, network));
    for (const search of ["none", "mcts:8"])
      assert.deepEqual(
        await bestMoves(`${path("onnx")}@${search}`),
        await bestMoves(`${path("safetensors")}@${search}`),
      );
  });
}

test("an ONNX file of others, and one that is cut off, are refused in words", async () => {
  const { bytes } = await exportNetwork("residual", NETWORKS[0][1], "onnx", randomPositions(8, 1));
  writeFileSync(join(folder, "cut.onnx"), bytes.subarray(0, bytes.length - 100));
  await assert.rejects(resolvePlayer(join(folder, "cut.onnx")), { code: "ONNX_CORRUPT" });
  writeFileSync(join(folder, "foreign.onnx"), Uint8Array.of(0x08, 0x08)); // a model that only says its version
  await assert.rejects(resolvePlayer(join(folder, "foreign.onnx")), /foreign\.onnx: an ONNX file that does not say/);
});
