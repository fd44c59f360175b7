import assert from "node:assert/strict";
import { test } from "vitest";
import { formatUci, mateScore, parseFen, START_FEN } from "#chess";
import { parsePlayer, resolvePlayer } from "./players.js";
import { formatGo } from "./uci-client.js";
import { parseUciOption } from "./uci-options.js";
import { parseInfo } from "./uci-player.js";

test("a network, its search and its nodes are taken apart", () => {
  const network = (network: string, search?: string, nodes?: number, options: [string, string][] = []) => ({
    kind: "network",
    network,
    search,
    nodes,
    options: new Map(options),
  });
  assert.deepEqual(parsePlayer("random"), network("random"));
  assert.deepEqual(parsePlayer("nnue@ab"), network("nnue", "ab"));
  assert.deepEqual(parsePlayer("residual@mcts:400"), network("residual", "mcts", 400));
  assert.deepEqual(
    parsePlayer("runs/moe@none?temperature=0.05"),
    network("runs/moe", "none", undefined, [["temperature", "0.05"]]),
  );
  assert.deepEqual(parsePlayer("runs/a@b/maia-1500.pb.gz@none"), network("runs/a@b/maia-1500.pb.gz", "none"));
});

test("a foreign engine's command and options are decoded", () => {
  assert.deepEqual(parsePlayer("uci:stockfish?UCI_LimitStrength=true&UCI_Elo=1700"), {
    kind: "uci",
    program: "stockfish",
    args: [],
    options: new Map([
      ["UCI_LimitStrength", "true"],
      ["UCI_Elo", "1700"],
    ]),
  });
  assert.deepEqual(parsePlayer('uci:/my%20engines/x "two words" --flag?Debug%20Log%20File=a%26b%3D%25&Clear='), {
    kind: "uci",
    program: "/my engines/x",
    args: ["two words", "--flag"],
    options: new Map([
      ["Debug Log File", "a&b=%"],
      ["Clear", ""],
    ]),
  });
});

test("a player that cannot be read is refused with the form of a right one", () => {
  for (const text of [
    "",
    "@ab",
    "nnue@",
    "nnue@mcts:x",
    "nnue@mcts:0",
    "uci:",
    "uci:?Hash=1",
    "uci:x?Hash",
    "uci:x?A=%",
  ]) {
    assert.throws(() => parsePlayer(text), { code: "PLAYER_SYNTAX", message: /uci:COMMAND/ }, text);
  }
});

test("a mistyped player gets the nearest right one", async () => {
  await assert.rejects(resolvePlayer("randm"), { code: "PLAYER_UNKNOWN", message: /Did you mean "random"\?/ });
  await assert.rejects(resolvePlayer("random@mcts"), { code: "PLAYER_SYNTAX", message: /random takes no search/ });
  await assert.rejects(resolvePlayer("uci:nod"), { code: "PROGRAM_MISSING", message: /Did you mean "/ });
});

test("the random player plays every legal move, and the same game for the same seed", async () => {
  const player = await resolvePlayer("random");
  const seen = new Set<number>();
  for (let seed = 0; seed < 300; seed++) {
    await player.newGame({ seed });
    seen.add((await player.choose(parseFen(START_FEN), {})).move);
  }
  assert.equal(seen.size, 20);
  await player.close();
});

test("options are read as engines print them", () => {
  assert.deepEqual(parseUciOption("option name Debug Log File type string default"), {
    name: "Debug Log File",
    type: "string",
    default: "",
    choices: [],
  });
  assert.deepEqual(parseUciOption("option name Hash type spin default 16 min 1 max 33554432"), {
    name: "Hash",
    type: "spin",
    default: "16",
    min: 1,
    max: 33554432,
    choices: [],
  });
  assert.deepEqual(
    parseUciOption("option name Style type combo default Very Solid var Very Solid var Risky")?.choices,
    ["Very Solid", "Risky"],
  );
  assert.equal(parseUciOption("option name"), undefined);
});

test("scores are read for the side to move; a mate counts its plies", () => {
  const line = "info depth 20 seldepth 30 multipv 1 score cp -31 wdl 1 900 99 nodes 123 nps 4 time 5 pv e2e4 e7e5";
  assert.deepEqual(parseInfo(line), {
    scoreCp: -31,
    mate: undefined,
    wdl: [1, 900, 99],
    depth: 20,
    selDepth: 30,
    nodes: 123,
    hashFull: undefined,
    pv: ["e2e4", "e7e5"],
  });
  assert.equal(parseInfo("info depth 3 score mate 2 pv a1a2").scoreCp, 32000 - 3);
  assert.equal(parseInfo("info depth 3 score mate -2 pv a1a2").scoreCp, -32000 + 4);
  assert.equal(mateScore(1), 31999);
  assert.equal(mateScore(0), -32000);
});

test("go says what the clock shows, and never shows zero", () => {
  assert.equal(formatGo({ nodes: 1000 }), "go nodes 1000");
  assert.equal(formatGo({}), "go infinite");
  assert.equal(
    formatGo({ mate: 3 }, { ponder: true, moves: ["e2e4", "d2d4"] }),
    "go ponder mate 3 searchmoves e2e4 d2d4",
  );
  assert.equal(formatGo({ depth: 5, moveTimeMs: 0.4 }), "go depth 5 movetime 1");
  const clock = { whiteMs: 0, blackMs: 1234.6, whiteIncrementMs: 0, blackIncrementMs: 0 };
  assert.equal(formatGo({ clock }), "go wtime 1 btime 1235");
  assert.equal(
    formatGo({ clock: { ...clock, whiteIncrementMs: 10, blackIncrementMs: 10, movesToGo: 7 } }),
    "go wtime 1 btime 1235 winc 10 binc 10 movestogo 7",
  );
});

test("a tree search plays with any evaluator, and its options stand behind the question mark", async () => {
  const position = parseFen("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"); // mate in one
  for (const text of [
    "uniform@mcts:200",
    "rollouts@mcts:200?root=gumbel",
    "uniform",
    "nnue@mcts:50?cpuct=2&threads=1",
  ]) {
    const player = await resolvePlayer(text);
    await player.newGame({ seed: 5 });
    const choice = await player.choose(position, { nodes: 300, multiPv: 2 });
    assert.equal(formatUci(position, choice.move), "a1a8", text);
    assert.equal(choice.lines[0].mate, 1, text);
    assert.ok((choice.visits?.a1a8 ?? 0) > 0 && choice.policy, text);
    await player.close();
  }
});

test("what is set takes effect before the next question, and what is wrong changes nothing", async () => {
  const player = await resolvePlayer("builtin@ab:500");
  await player.setOption("EvalFile", "nnue");
  await player.setOption("Hash", "32");
  await assert.rejects(player.setOption("hash", "0"), { code: "OPTION_VALUE" });
  await assert.rejects(player.setOption("Hush", "1"), { code: "OPTION_UNKNOWN", message: /Did you mean "hash"\?/ });
  assert.ok(((await player.choose(parseFen(START_FEN), {})).nodes ?? 0) >= 400);
  await player.setOption("network", "missing.nnue");
  await assert.rejects(player.newGame(), { code: "FILE_MISSING" });
  assert.ok(await player.choose(parseFen(START_FEN), {})); // with the network it had
  await player.close();
});

test("a player that does not exist is answered with those that do", async () => {
  await assert.rejects(resolvePlayer("nowhere"), {
    code: "PLAYER_UNKNOWN",
    message: /random, nnue, residual, moe, decoder, builtin, uniform, rollouts.*uci:COMMAND.*@ab, @mcts, @none/s,
  });
  await assert.rejects(resolvePlayer("nnue@none"), { code: "PLAYER_SEARCH", message: /@ab, @mcts/ });
  await assert.rejects(resolvePlayer("uniform@mcts:9?cpoct=2"), { message: /Did you mean "cpuct"\?/ });
  await assert.rejects(resolvePlayer("lc0@none"), { code: "NET_NOT_SHIPPED" });
});
