import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { formatUci, parseFen, parseSan, parseUci, START_FEN } from "#chess";
import { MOE_SIZES, Moe, networkBytes, RESIDUAL_SIZES, Residual } from "#models";
import type { Player } from "./player.js";
import { resolvePlayer } from "./players.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-actions-"));
const path = join(folder, "model.safetensors");
writeFileSync(path, networkBytes("moe", new Moe(MOE_SIZES.tiny, new Random(4))));
const residual = join(folder, "residual.safetensors");
writeFileSync(residual, networkBytes("residual", new Residual(RESIDUAL_SIZES.tiny, new Random(1))));
afterAll(() => rmSync(folder, { recursive: true }));

async function withPlayer<T>(name: string, use: (player: Player) => Promise<T>): Promise<T> {
  const player = await resolvePlayer(name);
  try {
    return await use(player);
  } finally {
    await player.close();
  }
}

test("the move of the highest expected value is played, and others follow in order", () =>
  withPlayer(`${path}@none`, async (player) => {
    for (const fen of [START_FEN, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1"]) {
      const position = parseFen(fen);
      const { move, lines } = await player.choose(position, { multiPv: 5 });
      const values = await player.valueMoves!(position, position.moves());
      const ranked = values.toSorted((a, b) => b.winProbability - a.winProbability);
      assert.equal(move, ranked[0].move);
      assert.equal(lines[0].scoreCp, ranked[0].scoreCp);
      assert.deepEqual(
        lines.map(({ pv }) => pv[0]),
        ranked.slice(0, 5).map((value) => formatUci(position, value.move)),
      );
      assert.ok(
        values.every(({ winProbability: p, confidence: c }) => p > 0 && p < 1 && c !== null && c > 1 / 128 && c <= 1),
      );
    }
  }));

test("a move after which the opponent can claim threefold repetition counts as a draw", () =>
  withPlayer(`${path}@none`, async (player) => {
    const position = parseFen("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1");
    const play = (line: string) => {
      for (const uci of line.split(" ")) position.play(parseUci(position, uci)!);
    };
    const worth = async (uci: string) => {
      const [{ winProbability }] = await player.valueMoves!(position, [parseUci(position, uci)!]);
      return winProbability;
    };
    play("d1e1 g8f8 e1d1 f8g8 d1e1 g8f8");
    assert.equal(await worth("e1d1"), 0.5); // the third time after f8g8
    assert.notEqual(await worth("e1c1"), 0.5);
    play("e1d1");
    assert.equal(await worth("f8g8"), 0.5);
    assert.notEqual(await worth("f8e8"), 0.5);
  }));

test("a move that mates is certain to win and comes first, and one that stalemates is worth a draw", () =>
  withPlayer(`${path}@none`, async (player) => {
    const mate = parseFen("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1");
    const { move, values } = await player.choose(mate, {});
    assert.equal(mate.clone().play(move).outcome()?.reason, "checkmate");
    assert.equal(values![formatUci(mate, move)], 1);
    const stalemate = parseFen("7k/8/5KQ1/8/8/8/8/8 w - - 0 1");
    const [qf7, qg7] = await player.valueMoves!(
      stalemate,
      ["g6f7", "g6g7"].map((uci) => parseUci(stalemate, uci)!),
    );
    assert.deepEqual([qf7.winProbability, qg7.winProbability], [0.5, 1]);
  }));

test("the third time counts at once, and the second never", () =>
  withPlayer(`${path}@none`, async (player) => {
    const position = parseFen("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 10 30");
    const play = (line: string) => {
      for (const uci of line.split(" ")) position.play(parseUci(position, uci)!);
    };
    const worth = async (uci: string) =>
      (await player.valueMoves!(position, [parseUci(position, uci)!]))[0].winProbability;
    play("d1e1 g8f8 e1d1 f8g8");
    assert.notEqual(await worth("d1e1"), 0.5); // the second time, and with g8f8 again
    play("d1c1 g8f8 c1d1");
    assert.equal(await worth("f8g8"), 0.5); // no reply would be a third
  }));

test("a temperature draws among the moves, the same for the same seed; other options are refused", async () => {
  const played = await withPlayer(`${path}@none?temperature=1`, async (player) => {
    const moves = [];
    for (const seed of [1, 2, 3, 4, 5, 6, 1]) {
      await player.newGame({ seed });
      moves.push((await player.choose(parseFen(START_FEN), {})).move);
    }
    return moves;
  });
  assert.ok(new Set(played).size > 2);
  assert.equal(played[6], played[0]);
  const best = await withPlayer(`${path}@none`, (player) => player.choose(parseFen(START_FEN), {}));
  await withPlayer(`${path}@none?temperature=0.000001`, async (player) => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      await player.newGame({ seed });
      assert.equal(
        (await player.choose(parseFen(START_FEN), {})).move,
        best.move,
        "so cold that nothing is left to chance",
      );
    }
  });
  await assert.rejects(resolvePlayer(`${path}@none?temprature=1`), {
    code: "OPTION_UNKNOWN",
    message: /Did you mean "temperature"\?/,
  });
  await assert.rejects(resolvePlayer(`${path}@none?temperature=hot`), { code: "OPTION_VALUE" });
});

test("shares of the legal moves sum to 1, and a move that mates is certain to win", () =>
  withPlayer(`${residual}@none`, async (player) => {
    const position = parseFen("7k/8/6K1/8/8/8/8/R7 w - - 0 1");
    const { policy, move } = await player.choose(position, {});
    const shares = Object.values(policy ?? {});
    assert.equal(shares.length, position.moves().length);
    assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 1) < 1e-6); // single precision
    assert.equal(shares[0], Math.max(...shares));
    assert.equal(Object.keys(policy ?? {})[0], formatUci(position, move));
    const [mate, other] = await player.valueMoves!(position, [parseSan(position, "Ra8#") ?? 0, position.moves()[0]]);
    assert.deepEqual([mate.winProbability, mate.confidence], [1, 1]);
    assert.ok(other.winProbability > 0 && other.winProbability < 1 && (other.confidence ?? 0) >= 1 / 3);
  }));
