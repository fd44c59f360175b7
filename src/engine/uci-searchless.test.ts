import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { formatUci, parseFen, parseSan, START_FEN } from "#chess";
import { networkBytes, RESIDUAL_SIZES, Residual } from "#models";
import { SearchlessPlayer } from "./searchless-player.js";
import { runUciSearchless } from "./uci-searchless.js";

const network = join(mkdtempSync(join(tmpdir(), "tabiya-")), "model.safetensors");
writeFileSync(network, networkBytes("residual", new Residual(RESIDUAL_SIZES.tiny, new Random(1))));
const player = await SearchlessPlayer.open({ name: "net@none", network, options: [] });
afterAll(() => player.close());

async function talk(...lines: string[]): Promise<string[]> {
  const heard: string[] = [];
  async function* input() {
    yield* lines;
  }
  await runUciSearchless(input(), (line) => heard.push(line), { player, version: "test" });
  return heard;
}

test("a network without a search introduces itself, is ready, and plays a legal move", async () => {
  const heard = await talk("uci", "isready", "position startpos moves e2e4 e7e5", "go wtime 1000 btime 1000");
  assert.match(heard[0], /^id name Tabiya test net@none/);
  assert.deepEqual(
    heard.filter((line) => line.startsWith("option")).map((line) => line.split(" ")[2]),
    ["MultiPV", "UCI_Chess960", "UCI_ShowWDL"],
  );
  assert.ok(heard.includes("uciok") && heard.includes("readyok"));
  const position = parseFen(START_FEN);
  for (const san of ["e4", "e5"]) position.play(parseSan(position, san) ?? 0);
  const best = heard.at(-1)?.split(" ")[1] ?? "";
  assert.ok(
    position.moves().some((move) => formatUci(position, move) === best),
    best,
  );
});

test("it ranks moves, shows win, draw and loss, and keeps to the moves it is asked about", async () => {
  const setup = ["setoption name MultiPV value 3", "setoption name UCI_ShowWDL value true", "position startpos"];
  const heard = await talk(...setup, "go depth 5", "go searchmoves a2a3 h2h4 nodes 1");
  const infos = heard.filter((line) => line.startsWith("info depth"));
  assert.equal(infos.length, 3 + 2);
  assert.match(
    infos[0],
    /^info depth 1 seldepth 1 multipv 1 score cp -?\d+ wdl \d+ \d+ \d+ nodes 1 time \d+ pv \w{4}$/,
  );
  assert.match(heard.at(-1) ?? "", /^bestmove (a2a3|h2h4)$/);
});

test("an answer to infinite or pondering thought waits until it is asked for", async () => {
  assert.ok(!(await talk("go infinite", "isready")).slice(0, -1).some((line) => line.startsWith("bestmove")));
  const heard = await talk("go ponder", "isready", "ponderhit");
  assert.ok(heard.indexOf("readyok") < heard.findIndex((line) => line.startsWith("bestmove")));
  assert.equal((await talk("go infinite", "stop", "stop")).filter((line) => line.startsWith("bestmove")).length, 1);
});

test("nothing it hears makes it fall silent", async () => {
  const heard = await talk(
    "dance",
    "position fen nonsense",
    "setoption name Hahs value 1",
    "go depth x",
    "",
    "isready",
  );
  assert.equal(heard.filter((line) => line.startsWith("bestmove")).length, 1);
  assert.equal(heard.at(-1), "readyok");
  const over = await talk("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "go depth 1");
  assert.deepEqual(over, ["info depth 0 score cp 0", "bestmove (none)"]);
});

test("shares of the legal moves sum to 1, and a move that mates is certain to win", async () => {
  const position = parseFen("7k/8/6K1/8/8/8/8/R7 w - - 0 1");
  const { policy, move } = await player.choose(position);
  const shares = Object.values(policy ?? {});
  assert.equal(shares.length, position.moves().length);
  assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 1) < 1e-6); // single precision
  assert.equal(shares[0], Math.max(...shares));
  assert.equal(Object.keys(policy ?? {})[0], formatUci(position, move));
  const [mate, other] = await player.valueMoves(position, [parseSan(position, "Ra8#") ?? 0, position.moves()[0]]);
  assert.deepEqual([mate.winProbability, mate.confidence], [1, 1]);
  assert.ok(other.winProbability > 0 && other.winProbability < 1 && (other.confidence ?? 0) >= 1 / 3);
});
