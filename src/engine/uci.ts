// Our side of the UCI protocol (Huber and Meyer-Kahlen, 2006): lines in, lines out, for any player. The player computes in
// workers or breathes between its steps, so this loop hears `stop` and `isready` at any time. Bad input is answered with
// `info string` and changes nothing.
import { messageOf, UserError } from "#base";
import { formatFen, formatUci, type Position, parseFen, START_FEN } from "#chess";
import {
  declareUciOption,
  defaultValues,
  findOption,
  isEndless,
  type Limits,
  type OptionTable,
  type OptionValues,
  parseOption,
} from "#search";
import { BENCH_DEPTH } from "./bench.js";
import { drawBoard } from "./board.js";
import { lessTime } from "./lag.js";
import type { Player, Report } from "./player.js";
import { type GoRequest, parseGo } from "./uci-go.js";
import { formatInfos } from "./uci-info.js";
import { parsePosition } from "./uci-position.js";

/** Who plays for a chess program that speaks UCI. */
export interface UciOptions {
  version: string;
  player: Player; // the caller closes it
}

/** What the protocol itself can be told, whoever plays. */
const OPTIONS = {
  multiPv: { type: "integer", default: 1, min: 1, max: 218, uci: "MultiPV", help: "how many lines to show" },
  ponder: { type: "check", default: false, uci: "Ponder", help: "the program may let us think on the opponent's time" },
  chess960: { type: "check", default: false, uci: "UCI_Chess960", help: "castling is spelled king takes rook" },
  showWdl: { type: "check", default: false, uci: "UCI_ShowWDL", help: "show probabilities of win, draw and loss" },
} as const satisfies OptionTable;

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
    await server.end();
  }
}

const newSeed = () => Math.floor(Math.random() * 2 ** 31); // every game has its own

class UciServer {
  private readonly settings: OptionValues<typeof OPTIONS> = defaultValues(OPTIONS);
  private readonly player: Player;
  private position = parseFen(START_FEN);
  private work: Promise<void> = Promise.resolve(); // what must be done before the next search or `readyok`
  private running: Running | undefined;
  private evaluation = ""; // as it was last said
  private hasEnded = false;
  private readonly queue: string[] = []; // lines that wait for the end of the search

  constructor(
    private readonly print: (line: string) => void,
    private readonly options: UciOptions,
  ) {
    this.player = options.player;
    this.after(() => this.player.newGame({ seed: newSeed() }));
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

  async end(): Promise<void> {
    this.hasEnded = true;
    this.queue.length = 0;
    this.stop();
    await this.work;
    await this.running?.done;
  }

  private obey(command: string, words: string[], line: string): void {
    switch (command) {
      case "":
        return;
      case "uci":
        this.introduce();
        return;
      case "isready":
        if (this.running) this.print("readyok");
        else this.after(() => this.prepare()).then(() => this.print("readyok"));
        return;
      case "ucinewgame":
        this.after(() => this.player.newGame({ seed: newSeed() }));
        return;
      case "setoption":
        this.setOption(line.slice("setoption".length));
        return;
      case "position":
        this.position = parsePosition(words, this.settings.chess960, (text) => this.complain(text));
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
      if (this.hasEnded) return;
      try {
        await step();
      } catch (error) {
        this.complain(messageOf(error));
      }
    });
    return this.work;
  }

  /** The options of the protocol, then those of the player that it does not know. */
  private get table(): OptionTable {
    const own = Object.entries(this.player.options).filter(
      ([name, { uci = name }]) => findOption(OPTIONS, uci) === undefined,
    );
    return { ...OPTIONS, ...Object.fromEntries(own) };
  }

  private introduce(): void {
    this.print(`id name Tabiya ${this.options.version} ${this.player.name}`);
    this.print("id author the Tabiya project");
    for (const [name, option] of Object.entries(this.table)) this.print(declareUciOption(name, option));
    this.print("uciok");
  }

  private setOption(text: string): void {
    const match = /^name\s+(.+?)(?:\s+value(?:\s+(.*))?)?$/i.exec(text.trim());
    if (!match)
      throw new UserError("UCI_OPTION", `setoption "${text.slice(0, 80)}": expected "name NAME value VALUE".`);
    const given = match[2] === "<empty>" ? "" : (match[2] ?? "");
    const { name, value } = parseOption("setoption", this.table, match[1], given);
    if (!Object.hasOwn(OPTIONS, name)) {
      this.after(() => this.player.setOption(name, given));
      return;
    }
    Object.assign(this.settings, { [name]: value });
    if (name === "chess960") this.position = parseFen(formatFen(this.position), { chess960: this.settings.chess960 });
  }

  /** Lets the player do what its options ask for, and says what it evaluates with if that is news. */
  private async prepare(): Promise<void> {
    const evaluation = await this.player.ready?.();
    if (evaluation === undefined || evaluation === this.evaluation) return;
    this.evaluation = evaluation;
    this.print(`info string evaluates with ${evaluation}`);
  }

  private go(words: string[]): void {
    const startMs = performance.now();
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
    const running: Running = {
      done: Promise.resolve(),
      release,
      request,
      stop: new AbortController(),
      ponderHit: new AbortController(),
    };
    if (!request.infinite && !request.ponder) release();
    this.running = running;
    const prepared = this.after(() => this.prepare());
    running.done = prepared.then(async () => {
      try {
        const best = await this.think(position, running, performance.now() - startMs);
        await released;
        this.print(`bestmove ${best}`);
      } catch (error) {
        this.complain(`the search failed: ${messageOf(error)}`);
        this.print(`bestmove ${formatUci(position, position.moves()[0])}`);
      } finally {
        this.running = undefined;
        while (!this.running && this.queue.length > 0) this.hear(this.queue.shift() as string);
      }
    });
  }

  /** Lets the player choose, prints what it thinks on the way, and gives the words behind `bestmove`. */
  private async think(position: Position, { request, stop, ponderHit }: Running, waitedMs: number): Promise<string> {
    const limits: Limits = { ...lessTime(request.limits, waitedMs), multiPv: this.settings.multiPv };
    let last = ""; // what was said, without nodes and times
    const say = (report: Report) => {
      last = linesOf(report);
      for (const line of formatInfos(report, this.settings.showWdl)) this.print(line);
    };
    const { move, ...report } = await this.player.choose(position, limits, {
      signal: stop.signal,
      ponderHit: request.ponder || ponderHit.signal.aborted ? ponderHit.signal : undefined,
      onReport: say,
    });
    if (linesOf(report) !== last) say(report);
    const best = formatUci(position, move);
    const [first, reply] = report.lines[0]?.pv ?? [];
    return first === best && reply !== undefined ? `${best} ponder ${reply}` : best;
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

  private async showEvaluation(): Promise<void> {
    await this.prepare();
    const { player, position } = this;
    if (position.isCheck() || position.moves().length === 0) {
      this.complain("a position in check, or without moves, has no static evaluation");
      return;
    }
    const cp = await player.evaluate?.(position);
    if (cp === undefined) {
      this.complain(`${player.name} has no static evaluation`);
      return;
    }
    const whiteCp = position.turn === "white" ? cp : -cp;
    this.print(`info string static evaluation ${cp} cp for the side to move, ${whiteCp} cp for White`);
  }

  private bench(depth: number): void {
    if (!Number.isInteger(depth) || depth < 1 || depth > 30) {
      this.complain("bench: the depth must be a whole number from 1 to 30.");
      return;
    }
    this.after(async () => {
      await this.prepare();
      const result = await this.player.bench?.(depth, () => this.hasEnded);
      this.complain(
        result
          ? `bench: ${result.signature} nodes, ${result.seconds.toFixed(2)} s, ${result.nps} nodes/s`
          : `${this.player.name} has no bench.`,
      );
    });
  }
}

const linesOf = ({ lines }: Report): string =>
  JSON.stringify(lines.map(({ scoreCp, depth, pv }) => [scoreCp, depth, pv]));
