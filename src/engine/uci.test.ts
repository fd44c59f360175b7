import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, test } from "vitest";
import { Random } from "#base";
import { parseFen, parseUci, START_FEN } from "#chess";
import { DECODER, DECODER_SIZES, MOE_SIZES, Moe, networkBytes, RESIDUAL_SIZES, Residual } from "#models";
import type { Player } from "./player.js";
import { resolvePlayer } from "./players.js";
import { runUci } from "./uci.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-uci-"));
const residual = join(folder, "residual.safetensors");
const moe = join(folder, "moe.safetensors");
const decoder = join(folder, "decoder.safetensors");
writeFileSync(residual, networkBytes("residual", new Residual(RESIDUAL_SIZES.tiny, new Random(1))));
writeFileSync(moe, networkBytes("moe", new Moe(MOE_SIZES.tiny, new Random(4))));
writeFileSync(decoder, networkBytes("decoder", DECODER.build(DECODER_SIZES.tiny, new Random(7))));

/** Every family and every search. Those that `searches` go on until they are told to stop. */
const PLAYERS = {
  "builtin@ab": { text: "builtin@ab", searches: true },
  "nnue@ab": { text: "nnue@ab", searches: true },
  "uniform@mcts": { text: "uniform@mcts", searches: true },
  "residual@mcts": { text: `${residual}@mcts`, searches: true },
  "residual@none": { text: `${residual}@none`, searches: false },
  "moe@none": { text: `${moe}@none`, searches: false },
  "decoder@think": { text: `${decoder}@think?threads=1`, searches: false },
  "decoder@none": { text: `${decoder}@none`, searches: false },
} as const;
type PlayerName = keyof typeof PLAYERS;

const FUZZ_LINES = 4000;

/** Options that not everybody has. */
const OWN: Record<PlayerName, string[]> = {
  "builtin@ab": ["Hash", "Move Overhead", "UCI_LimitStrength", "UCI_Elo"],
  "nnue@ab": ["Hash", "Move Overhead", "UCI_LimitStrength", "UCI_Elo"],
  "uniform@mcts": ["Move Overhead", "CPuct", "reuse"],
  "residual@mcts": ["Move Overhead", "CPuct", "reuse"],
  "residual@none": ["Temperature"],
  "moe@none": ["Temperature"],
  "decoder@think": ["Move Overhead", "Temperature"],
  "decoder@none": ["Temperature"],
};

const opened = new Map<PlayerName, Player>();
for (const name of Object.keys(PLAYERS) as PlayerName[]) opened.set(name, await resolvePlayer(PLAYERS[name].text));
afterAll(() => Promise.all([...opened.values()].map((player) => player.close())));

/** A conversation: `say` sends lines, `until` waits for a line of the engine that matches. */
class Talk {
  readonly heard: string[] = [];
  private readonly lines: string[] = [];
  private wake = () => {};
  private ended = false;
  private listeners: (() => void)[] = [];
  readonly done: Promise<void>;

  constructor(name: PlayerName) {
    const print = (line: string) => {
      this.heard.push(line);
      for (const listener of this.listeners.splice(0)) listener();
    };
    this.done = runUci(this.input(), print, { version: "test", player: opened.get(name)! });
  }

  say(...lines: string[]): void {
    this.lines.push(...lines);
    this.wake();
  }

  end(): Promise<void> {
    this.ended = true;
    this.wake();
    return this.done;
  }

  /** The first line from `from` on that matches. */
  async until(pattern: RegExp, from = 0): Promise<string> {
    for (let i = from; ; i++) {
      while (i >= this.heard.length) await new Promise<void>((resolve) => this.listeners.push(resolve));
      if (pattern.test(this.heard[i])) return this.heard[i];
    }
  }

  private async *input(): AsyncGenerator<string> {
    while (true) {
      for (let line = this.lines.shift(); line !== undefined; line = this.lines.shift()) yield line;
      if (this.ended) return;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

async function conversation(name: PlayerName, play: (talk: Talk) => Promise<void>): Promise<string[]> {
  const talk = new Talk(name);
  try {
    await play(talk);
  } finally {
    talk.say("quit");
    await talk.end();
  }
  return talk.heard;
}

/** Lines of all kinds: proper ones, cut ones, shuffled ones, noise. */
function* fuzz(count: number, seed: number): Generator<string> {
  const random = new Random(seed);
  const words =
    "uci isready ucinewgame setoption name value Hash Threads MultiPV EvalFile UCI_Elo UCI_LimitStrength UCI_Chess960 true false position startpos fen moves e2e4 e7e5 g1f3 a7a8q 0000 go depth nodes movetime wtime btime winc binc movestogo infinite ponder mate searchmoves stop ponderhit d eval debug on off register 1 2 3 -1 0 999999999999 1e9 NaN x rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 8/8/8/8/8/8/8/8 \u0000 \u{1f600} =".split(
      " ",
    );
  const proper = [
    "isready",
    "position startpos moves e2e4 e7e5 g1f3",
    "go depth 3",
    "go nodes 50",
    "go infinite",
    "go ponder movetime 5",
    "stop",
    "ponderhit",
    "ucinewgame",
    "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "go movetime 2",
    "go wtime 1 btime 1",
    "setoption name MultiPV value 2",
  ];
  for (let i = 0; i < count; i++) {
    const kind = random.below(4);
    if (kind === 0) yield random.pick(proper);
    else if (kind === 1)
      yield Array.from({ length: random.below(9) }, () => random.pick(words))
        .join(" ")
        .replace(/Threads value \d{2,}|Hash value \d{3,}/, "");
    else if (kind === 2) yield random.pick(proper).slice(0, random.below(30));
    else yield String.fromCharCode(...Array.from({ length: random.below(40) }, () => random.below(300)));
  }
}

for (const [name, { searches }] of Object.entries(PLAYERS) as [PlayerName, (typeof PLAYERS)[PlayerName]][]) {
  test(`${name}: it introduces itself, and answers a plain question`, async () => {
    const heard = await conversation(name, async (talk) => {
      talk.say("uci", "isready", "position startpos moves e2e4 e7e5", "go depth 6 nodes 400");
      await talk.until(/^bestmove/);
    });
    assert.equal(heard[0], `id name Tabiya test ${PLAYERS[name].text}`);
    assert.ok(heard.includes("uciok") && heard.includes("readyok"));
    for (const option of ["Threads", "MultiPV", "Ponder", "EvalFile", "UCI_Chess960", "UCI_ShowWDL", ...OWN[name]])
      assert.ok(
        heard.some((line) => line.startsWith(`option name ${option} type `)),
        option,
      );
    const info = heard.filter((line) => line.startsWith("info depth "));
    assert.match(
      info[info.length - 1],
      /^info depth \d+ seldepth \d+ multipv 1 score cp -?\d+ nodes \d+ nps \d+ (hashfull \d+ tbhits 0 )?time \d+ pv \w+/,
    );
    const position = parseFen(START_FEN);
    for (const word of ["e2e4", "e7e5"]) position.play(parseUci(position, word) as number);
    assert.notEqual(parseUci(position, (heard.at(-1) as string).split(" ")[1]), undefined);
  });

  test(`${name}: isready and stop are answered at once during an endless search, and there is one bestmove`, async () => {
    const heard = await conversation(name, async (talk) => {
      talk.say("isready", "go infinite");
      if (searches) await talk.until(/^info depth [1-9]/);
      const from = talk.heard.length;
      talk.say("isready");
      await talk.until(/^readyok/, from);
      assert.ok(!talk.heard.some((line) => line.startsWith("bestmove")));
      talk.say("stop");
      await talk.until(/^bestmove/);
      talk.say("stop", "isready");
      await talk.until(/^readyok/, talk.heard.length);
    });
    assert.equal(heard.filter((line) => line.startsWith("bestmove")).length, 1);
  });

  test(`${name}: go ponder waits for ponderhit, then keeps to its time`, async () => {
    await conversation(name, async (talk) => {
      talk.say("isready", "position startpos moves e2e4 c7c5", "go ponder wtime 10000 btime 10000 winc 0 binc 0");
      await talk.until(/^info depth /);
      await new Promise((resolve) => setTimeout(resolve, 200));
      assert.ok(!talk.heard.some((line) => line.startsWith("bestmove")));
      const start = performance.now();
      talk.say("ponderhit");
      await talk.until(/^bestmove/);
      assert.ok(performance.now() - start < 10_000);
    });
  });

  test(`${name}: a search that ends early keeps its answer back while it ponders`, async () => {
    await conversation(name, async (talk) => {
      talk.say("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "go ponder depth 3");
      await talk.until(/^info depth /);
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.ok(!talk.heard.some((line) => line.startsWith("bestmove")));
      talk.say("stop");
      assert.match(await talk.until(/^bestmove/), searches ? /^bestmove a1a8/ : /^bestmove/);
    });
  });

  test(`${name}: MultiPV, WDL and searchmoves do what they say`, async () => {
    const heard = await conversation(name, async (talk) => {
      talk.say("setoption name MultiPV value 3", "setoption name UCI_ShowWDL value true", "go depth 4 nodes 400");
      await talk.until(/^bestmove/);
      talk.say("setoption name multipv value 1", "go depth 4 nodes 400 searchmoves a2a4 h2h4");
      await talk.until(/^bestmove [ah]2/, talk.heard.length);
    });
    for (const n of [1, 2, 3]) assert.ok(heard.some((line) => line.includes(` multipv ${n} `)));
    const wdl = / wdl (\d+) (\d+) (\d+) /.exec(
      heard.find((line) => line.includes(" wdl ")) as string,
    ) as RegExpExecArray;
    assert.equal(Number(wdl[1]) + Number(wdl[2]) + Number(wdl[3]), 1000);
  });

  test(`${name}: Chess960 is spelled king takes rook when asked for, and a move of each kind is understood`, async () => {
    const heard = await conversation(name, async (talk) => {
      talk.say(
        "setoption name UCI_Chess960 value true",
        "position fen 1k6/8/8/8/8/8/8/RK5R w HA - 0 1 moves b1h1",
        "d",
      );
      await talk.until(/^Fen/);
    });
    assert.ok(heard.includes("Fen: 1k6/8/8/8/8/8/8/R4RK1 b - - 1 1"));
  });

  test(`${name}: positions without a move are answered, mate and stalemate`, async () => {
    const heard = await conversation(name, async (talk) => {
      talk.say(
        "position fen 7k/5KQ1/8/8/8/8/8/8 b - - 0 1",
        "go depth 3",
        "position fen 7k/5K2/6Q1/8/8/8/8/8 b - - 0 1",
        "go movetime 10",
      );
      await talk.until(/^bestmove/);
      await talk.until(/score cp 0/);
    });
    assert.deepEqual(
      heard.filter((line) => /^(info depth|bestmove)/.test(line)),
      ["info depth 0 score mate 0", "bestmove (none)", "info depth 0 score cp 0", "bestmove (none)"],
    );
  });

  test(`${name}: what comes during a search is done after it, in order`, async () => {
    const talk = new Talk(name);
    talk.say(
      "go depth 7 nodes 400",
      "position startpos moves d2d4",
      "go depth 5 nodes 400",
      "setoption name Hash value 2",
      "go depth 4 nodes 400",
    );
    await talk.end(); // the end of the input waits for searches that end by themselves
    assert.equal(talk.heard.filter((line) => line.startsWith("bestmove")).length, 3);
  });

  test(`${name}: bad input is answered with one line and changes nothing`, async () => {
    const heard = await conversation(name, async (talk) => {
      talk.say(
        "hello",
        "position fen rubbish",
        "position startpos moves e2e5",
        "setoption name MultiPV value lots",
        "setoption name Hush value 1",
      );
      talk.say(
        "setoption",
        "position",
        "go depth x",
        "stop",
        "setoption name EvalFile value /nowhere/net.nnue",
        "go depth 2",
      );
      await talk.until(/^bestmove/);
      await talk.until(/^bestmove/, talk.heard.findIndex((line) => line.startsWith("bestmove")) + 1);
    });
    const strings = heard.filter((line) => line.startsWith("info string"));
    for (const pattern of [
      /no command "hello"/,
      /FEN/,
      /"e2e5" is not legal/,
      /multiPv is "lots"/,
      /did you mean|Hush/i,
      /nowhere/,
    ])
      assert.ok(
        strings.some((line) => pattern.test(line)),
        String(pattern),
      );
  });

  test(`${name}: thousands of random and broken lines: it always answers isready, and still plays`, async () => {
    await conversation(name, async (talk) => {
      let sent = 0;
      for (const line of fuzz(Number(process.env["UCI_FUZZ_LINES"] ?? FUZZ_LINES), 5)) {
        if (line.trim() === "quit") continue;
        talk.say(line);
        if (++sent % 50 === 0) {
          const from = talk.heard.length;
          talk.say("isready");
          await talk.until(/^readyok/, from);
          talk.say("stop");
        }
      }
      talk.say("stop", "position startpos", "setoption name UCI_LimitStrength value false", "isready", "stop");
      const from = talk.heard.length;
      talk.say("position startpos", "go depth 2", "stop", "isready");
      await talk.until(/^bestmove/, from);
    });
  });
}
