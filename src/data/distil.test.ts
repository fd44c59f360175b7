import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { Random } from "#base";
import { formatFen, formatUci, parseFen, START_FEN } from "#chess";
import { createRecords, type DataRecord, openRecords } from "#formats";
import { NnueEvaluator, syntheticWide } from "#models";
import { distilRecords } from "./distil.js";

test("distilled positions are quiet, valued by the network, and half of them off the games", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-distil-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [from, to] = [join(folder, "a.bin"), join(folder, "b.bin")];
  const random = new Random(1);
  const records: DataRecord[] = [];
  let position = parseFen(START_FEN);
  for (let i = 0; i < 400; i++) {
    if (position.outcome() || position.fullmoves > 40) position = parseFen(START_FEN);
    const move = random.pick(position.moves());
    records.push({ fen: formatFen(position), move: formatUci(position, move), score: 1, ply: i % 80, result: 1 });
    position.play(move);
  }
  const writer = await createRecords(from);
  await writer.write(records);
  await writer.commit();

  const network = syntheticWide(1);
  const options = { share: 1, varied: 1, scale: 0.5, seed: 3, signal: new AbortController().signal, onProgress() {} };
  const result = await distilRecords(from, to, network, options);
  assert.equal(result.positions, 400);
  const known = new Set(records.map(({ fen }) => fen));
  const evaluator = new NnueEvaluator(network);
  let [asTheyWere, varied] = [0, 0];
  for await (const batch of await openRecords(to)) {
    for (const { fen, move, score, result: outcome } of batch) {
      const board = parseFen(fen);
      assert.ok(!board.isCheck(), fen);
      assert.ok(
        board.moves().every((m) => board.see(m) <= 0),
        fen,
      );
      assert.equal(score, Math.round(evaluator.evaluate(board) * 0.5));
      if (known.has(fen) && move) asTheyWere++;
      else {
        assert.ok(!move);
        assert.ok(outcome === 1 || outcome === -1);
        varied++;
      }
    }
  }
  assert.equal(asTheyWere + varied, result.written);
  assert.ok(asTheyWere > 50 && varied > 50, `${asTheyWere} and ${varied}`);
});
