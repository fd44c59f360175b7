// Our side of the UCI protocol (Huber and Meyer-Kahlen, 2006): lines in, lines out. The search runs in workers, so this
// loop hears `stop` and `isready` at any time. Bad input is answered with `info string` and changes nothing.
import { messageOf, UserError } from "#base";
import { formatFen, formatUci, movesToMate, type Position, parseFen, START_FEN, wdlOfScore } from "#chess";
import { type AlphaBetaLimits, isEndless, type SearchReport } from "#search";
import { type AlphaBetaEngine, createAlphaBeta } from "./alphabeta-engine.js";
import { BENCH_DEPTH, runBench } from "./bench.js";
import { drawBoard } from "./board.js";
import { LagMeter } from "./lag.js";
import { formatLine } from "./report.js";
import { strengthOf } from "./strength.js";
import { type GoRequest, parseGo } from "./uci-go.js";
import { parsePosition } from "./uci-position.js";
import { applySetting, declareSettings, defaultSettings } from "./uci-settings.js";

export interface UciOptions {
  version: string;
  network: string; // as in a player's name: "builtin", "nnue" or a file
  nodes?: number; // most nodes a move, as in a player's name
}

/** What is answered or done during a search; everything else waits. */
const AT_ONCE = ["", "uci", "isready", "stop", "ponderhit", "debug", "register", "quit"];
const LONGEST_QUEUE = 10_000;

interface Running {
  done: Promise<void>;
  /** `go infinite` and `go ponder` keep the answer until they are told. */
  release(): void;
  request: GoRequest;
  stop: AbortController;
  ponderHit: AbortController;
}

/** Serves one chess program until `quit` or the end of its lines. */
export async function runUci(
  lines: AsyncIterable<string>,
  print: (line: string) => void,
  options: UciOptions,
): Promise<void> {
  const server = new UciServer(print, options);
  try {
    for await (const line of lines) {
      if (line.trim() === "quit") return;
      server.hear(line);
    }
    await server.finish();
  } finally {
    await server.close();
  }
}

const newSeed = () => Math.floor(Math.random() * 2 ** 31);

class UciServer {
  private readonly settings = defaultSettings();
  private position = parseFen(START_FEN);
  private engine: AlphaBetaEngine | undefined;
  private built = ""; // the settings the engine was made with
  private work: Promise<void> = Promise.resolve(); // what must be done before the next search or `readyok`
  private running: Running | undefined;
  private readonly lag = new LagMeter();
  private closed = false;
  private seed = newSeed(); // of the errors of a weaker player: every game has its own
  private readonly queue: string[] = []; // lines that wait for the end of the search

  constructor(
    private readonly print: (line: string) => void,
    private readonly options: UciOptions,
  ) {
    this.settings.EvalFile = options.network;
  }

  /** Never throws. What would disturb a search waits until it has ended. */
  hear(line: string): void {
    const words = line.trim().split(/\s+/);
    if (this.running && !AT_ONCE.includes(words[0])) {
      if (this.queue.length < LONGEST_QUEUE) this.queue.push(line);
      else this.complain(`"${words[0].slice(0, 60)}" was dropped: too many commands wait for the end of the search.`);
      return;
    }
    try {
      this.obey(words[0] ?? "", words.slice(1), line.trim());
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.complain(error.message);
    }
  }

  /** The lines have ended: searches that end by themselves may do so, any other is stopped. */
  async finish(): Promise<void> {
    await this.work;
    while (this.running) {
      const { request, done } = this.running;
      if (request.infinite || request.ponder || isEndless(request.limits)) this.stop();
      await done;
      await this.work;
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    this.queue.length = 0;
    this.stop();
    await this.work;
    await this.running?.done;
    await this.engine?.search.close();
  }

  private obey(command: string, words: string[], line: string): void {
    switch (command) {
      case "":
        return;
      case "uci":
        for (const text of [`id name Tabiya ${this.options.version}`, "id author the Tabiya project"]) this.print(text);
        for (const text of declareSettings()) {
          this.print(
            text.startsWith("option name EvalFile")
              ? `option name EvalFile type string default ${this.options.network}`
              : text,
          );
        }
        this.print("uciok");
        return;
      case "isready":
        if (this.running) this.print("readyok");
        else this.after(() => this.build()).then(() => this.print("readyok"));
        return;
      case "ucinewgame":
        this.after(async () => {
          await this.build();
          await this.engine?.search.clear();
          this.seed = newSeed();
        });
        return;
      case "setoption":
        if (applySetting(this.settings, line.slice("setoption".length)) === "UCI_Chess960") this.respell();
        return;
      case "position":
        this.setPosition(words);
        return;
      case "go":
        this.go(words);
        return;
      case "stop":
        this.stop();
        return;
      case "ponderhit":
        this.ponderHit();
        return;
      case "d":
        for (const text of drawBoard(this.position)) this.print(text);
        this.print(`Fen: ${formatFen(this.position)}`);
        this.print(`Key: ${this.position.key.toString(16).padStart(16, "0").toUpperCase()}`);
        return;
      case "eval":
        this.after(() => this.showEvaluation());
        return;
      case "bench":
        this.bench(Number(words[0] ?? BENCH_DEPTH));
        return;
      case "debug":
      case "register":
      case "quit":
        return;
      default:
        this.complain(`There is no command "${command.slice(0, 60)}".`);
    }
  }

  private complain(message: string): void {
    for (const text of message.split("\n"))
      this.print(`info string ${text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, "?")}`);
  }

  /** Does something after what was begun before; trouble is reported and forgotten. */
  private after(step: () => Promise<void>): Promise<void> {
    this.work = this.work.then(async () => {
      if (this.closed) return;
      try {
        await step();
      } catch (error) {
        this.complain(messageOf(error));
      }
    });
    return this.work;
  }

  /** Makes the engine anew if an option that it stands on has changed. */
  private async build(): Promise<void> {
    const { Hash: hashMb, Threads: threads, EvalFile: file } = this.settings;
    const wanted = JSON.stringify([hashMb, threads, file]);
    if (this.engine && wanted === this.built) return;
    const network = file === "" || file === "<empty>" ? "builtin" : file;
    try {
      const engine = await createAlphaBeta(network, { hashMb, threads });
      await this.engine?.search.close();
      this.engine = engine;
      this.built = wanted;
      this.print(`info string evaluates with ${engine.evaluation}`);
    } catch (error) {
      if (!this.engine) {
        this.complain(messageOf(error));
        this.complain("going on with the built-in evaluation");
        this.engine = await createAlphaBeta("builtin", { hashMb: 16, threads: 1 });
        this.built = wanted;
        return;
      }
      this.built = wanted; // the old engine stays until an option changes again
      throw error;
    }
  }

  private respell(): void {
    const fen = formatFen(this.position);
    this.position = parseFen(fen, { chess960: this.settings.UCI_Chess960 });
  }

  private setPosition(words: string[]): void {
    this.position = parsePosition(words, this.settings.UCI_Chess960, (text) => this.complain(text));
  }

  private go(words: string[]): void {
    const startMs = performance.timeOrigin + performance.now();
    const position = this.position.clone();
    const request = parseGo(position, words);
    for (const note of request.notes) this.complain(note);
    if (position.moves().length === 0) {
      this.print(`info depth 0 score ${position.isCheck() ? "mate 0" : "cp 0"}`);
      this.print("bestmove (none)");
      return;
    }
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const pondered = request.ponder;
    const waits = request.infinite || request.ponder || isEndless(request.limits);
    const running: Running = {
      done: Promise.resolve(),
      release,
      request,
      stop: new AbortController(),
      ponderHit: new AbortController(),
    };
    if (!waits) release();
    this.running = running;
    running.done = this.work.then(async () => {
      try {
        await this.build();
        const report = await this.search(position, running, startMs);
        await released;
        const [best, ponder] = formatLine(position, report.lines[0].pv);
        this.print(`bestmove ${best}${ponder ? ` ponder ${ponder}` : ""}`);
        const { clock } = request.limits;
        if (clock && !pondered)
          this.lag.answered(position, clock, performance.timeOrigin + performance.now() - startMs);
      } catch (error) {
        this.complain(`the search failed: ${messageOf(error)}`);
        this.print(`bestmove ${formatUci(position, position.moves()[0])}`);
        this.engine = undefined;
      } finally {
        this.running = undefined;
        while (!this.running && this.queue.length > 0) this.hear(this.queue.shift() as string);
      }
    });
  }

  /** The limits of a request, strength included. */
  private limits(position: Position, { limits: asked }: GoRequest): AlphaBetaLimits {
    const least = this.settings["Move Overhead"];
    const overheadMs = asked.clock ? this.lag.allowance(position, asked.clock, least) : least;
    const limits: AlphaBetaLimits = { ...asked, overheadMs, multiPv: this.settings.MultiPV };
    const weaker = this.settings.UCI_LimitStrength ? strengthOf(this.settings.UCI_Elo) : undefined;
    if (weaker) limits.noise = { cp: weaker.noiseCp, seed: this.seed };
    const caps = [limits.nodes, this.options.nodes, weaker?.nodes];
    const most = Math.min(...caps.filter((cap) => cap !== undefined));
    if (most < Infinity) limits.nodes = most;
    return limits;
  }

  private search(position: Position, { request, stop, ponderHit }: Running, startMs: number): Promise<SearchReport> {
    const limits = this.limits(position, request);
    const waitedMs = performance.timeOrigin + performance.now() - startMs; // for the engine to be made
    if (limits.moveTimeMs !== undefined) limits.moveTimeMs = Math.max(1, limits.moveTimeMs - waitedMs);
    if (limits.clock) {
      const { clock } = limits;
      limits.clock = { ...clock, whiteMs: clock.whiteMs - waitedMs, blackMs: clock.blackMs - waitedMs };
    }
    return (this.engine as AlphaBetaEngine).search.search(position, limits, {
      signal: stop.signal,
      ponderHit: request.ponder ? ponderHit.signal : undefined,
      onReport: (report) => this.report(position, report),
    });
  }

  private stop(): void {
    const { running } = this;
    if (!running) return;
    running.release();
    running.stop.abort();
  }

  /** The opponent played the expected move: from now on the clock is ours. */
  private ponderHit(): void {
    const { running } = this;
    if (!running?.request.ponder) return;
    running.request.ponder = false;
    running.release();
    running.ponderHit.abort();
    if (isEndless(running.request.limits)) this.stop();
  }

  private report(position: Position, { lines, nodes, timeMs, hashFull }: SearchReport): void {
    const time = Math.round(timeMs);
    const nps = Math.round(nodes / Math.max(timeMs, 1)) * 1000;
    lines.forEach(({ scoreCp, depth, selDepth, pv }, i) => {
      const mate = movesToMate(scoreCp);
      const score = mate === undefined ? `cp ${scoreCp}` : `mate ${mate}`;
      const wdl = this.settings.UCI_ShowWDL ? ` wdl ${wdlOfScore(scoreCp).join(" ")}` : "";
      this.print(
        `info depth ${depth} seldepth ${selDepth} multipv ${i + 1} score ${score}${wdl} nodes ${nodes} nps ${nps} ` +
          `hashfull ${hashFull} tbhits 0 time ${time} pv ${formatLine(position, pv).join(" ")}`,
      );
    });
  }

  private async showEvaluation(): Promise<void> {
    await this.build();
    const { engine, position } = this;
    if (!engine) return;
    if (position.isCheck() || position.moves().length === 0) {
      this.print("info string a position in check, or without moves, has no static evaluation");
      return;
    }
    const cp = await engine.search.evaluate(position);
    this.print(
      `info string static evaluation ${cp} cp for the side to move, ${position.turn === "white" ? cp : -cp} cp for White`,
    );
  }

  private bench(depth: number): void {
    if (!Number.isInteger(depth) || depth < 1 || depth > 30) {
      this.complain(`bench: the depth must be a whole number from 1 to 30.`);
      return;
    }
    this.after(async () => {
      await this.build();
      if (!this.engine) return;
      const { signature, seconds, nps } = await runBench(this.engine.search, depth, 1, () => this.closed);
      this.print(`info string bench: ${signature} nodes, ${seconds.toFixed(2)} s, ${nps} nodes/s`);
    });
  }
}
