// Speaks UCI (Huber and Meyer-Kahlen, 2006) to a foreign engine. It trusts nothing: every answer has a time limit,
// output is ignored unless it is what we wait for, and each way to misbehave ends in one PlayerFault.
import { messageOf, type Process, type ProcessEnd, startProcess, UserError } from "#base";
import { isEndless, type Limits } from "#search";
import { PlayerFault } from "./player.js";
import { checkUciOption, parseUciOption, type UciOption } from "./uci-options.js";

/** How long an engine is waited for. */
export interface UciTimes {
  startMs: number; // from the start of the program to `uciok`, and to `readyok` after options or a new game
  graceMs: number; // after its time is over, to answer `stop`
  silenceMs: number; // without a word in a search that has no time limit, before it is asked whether it lives
  longestMs: number; // for one move without a time limit
}

export const UCI_TIMES: UciTimes = { startMs: 30_000, graceMs: 2_000, silenceMs: 10_000, longestMs: 600_000 };

/** What the engine said to one `go`. */
export interface UciAnswer {
  bestMove: string;
  /** The last line `info ... score ...` for each number of MultiPV, as printed. */
  infos: string[];
  timeMs: number;
}

type Waiting = { word: string; resolve(line: string): void; reject(fault: PlayerFault): void };

/** How `go` can be steered, and what it may ask besides the limits. */
export interface UciAsking {
  signal?: AbortSignal; // tells the engine to stop
  ponderHit?: AbortSignal; // given: the engine ponders until it fires
  moves?: readonly string[]; // the only ones to look at, in UCI
  onInfos?: (infos: readonly string[]) => void; // hears of every new line with a score
}

interface Search {
  start: number;
  infos: string[];
  onInfos?: (infos: readonly string[]) => void;
  heard: number; // when it last said anything
  resolve(answer: UciAnswer): void;
  reject(fault: PlayerFault): void;
}

/** A UCI engine in a process of its own, and the conversation with it. */
export class UciClient {
  /** What the engine calls itself. */
  id = "";
  readonly options = new Map<string, UciOption>(); // by name in lower case
  /** Called when it crashes or moves while nobody asked. */
  onFault?: (fault: PlayerFault) => void;
  private process!: Process;
  private waiting: Waiting | undefined;
  private search: Search | undefined;
  private fault: PlayerFault | undefined;
  private closing = false;
  private readonly ended: Promise<void>;
  private markEnded!: () => void;
  private set = new Map<string, string>(); // options as they are set, by name in lower case

  private constructor(
    readonly command: string,
    private readonly times: UciTimes,
  ) {
    this.ended = new Promise((resolve) => {
      this.markEnded = resolve;
    });
  }

  /** Starts the program, which must answer `uci`. A program that cannot be started or is no engine is a UserError. */
  static async start(program: string, args: readonly string[] = [], times: Partial<UciTimes> = {}): Promise<UciClient> {
    const client = new UciClient([program, ...args].join(" "), { ...UCI_TIMES, ...times });
    client.process = await startProcess(program, args, {
      onLine: (line) => client.hear(line),
      onEnd: (end) => client.end(end),
    });
    try {
      await client.ask("uci", "uciok", client.times.startMs);
    } catch (error) {
      await client.close();
      throw new UserError(
        "ENGINE_START",
        `${client.command}: ${messageOf(error)}\nExpected a chess engine that speaks UCI. Try it by hand: start it and type "uci".`,
      );
    }
    return client;
  }

  /** Sets an option the engine has declared; the same value twice costs nothing. */
  setOption(name: string, value: string): void {
    const option = checkUciOption(this.command, this.options, name, value);
    const key = name.toLowerCase();
    if (this.set.get(key) === value) return;
    this.set.set(key, value);
    this.process.write(
      option.type === "button" ? `setoption name ${option.name}\n` : `setoption name ${option.name} value ${value}\n`,
    );
  }

  /** Sets an option if the engine has it. */
  trySetOption(name: string, value: string): void {
    if (this.options.has(name.toLowerCase())) this.setOption(name, value);
  }

  /** Resolves when the engine has done all it was told. */
  async ready(): Promise<void> {
    await this.ask("isready", "readyok", this.times.startMs);
  }

  async newGame(): Promise<void> {
    this.process.write("ucinewgame\n");
    await this.ready();
  }

  /**
   * Lets it search the position (`startpos` or `fen ...`, with ` moves ...`) until it moves. Without a deadline it may
   * take as long as it shows that it lives.
   */
  async go(
    position: string,
    limits: Limits,
    { signal, ponderHit, moves, onInfos }: UciAsking = {},
  ): Promise<UciAnswer> {
    const { deadlineMs } = limits;
    if (this.fault) throw this.fault;
    const start = performance.now();
    const answer = new Promise<UciAnswer>((resolve, reject) => {
      this.search = { start, infos: [], onInfos, heard: start, resolve, reject };
    });
    const ponder = ponderHit !== undefined && !ponderHit.aborted;
    this.process.write(`position ${position}\n${formatGo(limits, { ponder, moves })}\n`);
    let startedMs = 0; // after `start`, when its clock began to run
    let timer: ReturnType<typeof setTimeout> | undefined;
    const startClock = () => {
      startedMs = performance.now() - start;
      timer =
        deadlineMs === undefined
          ? setInterval(() => void this.checkLife(), this.times.silenceMs / 2)
          : setTimeout(() => setImmediate(() => void this.flagFall(deadlineMs)), deadlineMs);
    };
    const hit = () => {
      this.process.write("ponderhit\n");
      startClock();
    };
    const stop = () => void this.flagFall(performance.now() - start);
    if (ponder) ponderHit.addEventListener("abort", hit);
    else startClock();
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    try {
      const found = await answer;
      const thoughtMs = found.timeMs - startedMs;
      if (deadlineMs === undefined || thoughtMs <= deadlineMs) return found;
      const [took, limit] = [thoughtMs, deadlineMs].map((ms) => (ms / 1000).toFixed(3));
      throw (this.fault = new PlayerFault("time", `moved after ${took} s; it had ${limit} s.`));
    } finally {
      clearTimeout(timer);
      ponderHit?.removeEventListener("abort", hit);
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Asks it to leave, and kills it if it does not. */
  async close(): Promise<void> {
    this.closing = true;
    this.process.write("quit\n");
    const timer = setTimeout(() => this.process.kill(), this.fault ? 0 : this.times.graceMs);
    await this.ended;
    clearTimeout(timer);
  }

  /** Sends a command and waits for the line that answers it. */
  private ask(command: string, word: string, withinMs: number): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.fault) {
        reject(this.fault);
        return;
      }
      const timer = setTimeout(() => {
        this.fail(new PlayerFault("hang", `did not answer "${command}" within ${withinMs / 1000} s.`));
      }, withinMs);
      const done = () => {
        clearTimeout(timer);
        this.waiting = undefined;
      };
      this.waiting = {
        word,
        resolve: (line) => {
          done();
          resolve(line);
        },
        reject: (fault) => {
          done();
          reject(fault);
        },
      };
      this.process.write(`${command}\n`);
    });
  }

  private hear(line: string): void {
    const { search } = this;
    if (search) search.heard = performance.now();
    if (line.startsWith("info ")) {
      if (search && / score (cp|mate) /.test(line)) this.keepInfo(search, line);
    } else if (line.startsWith("bestmove")) {
      if (!search) {
        if (!this.closing)
          this.fail(new PlayerFault("out of turn", `said "${line.slice(0, 80)}" when nobody had asked.`));
        return;
      }
      this.search = undefined;
      const bestMove = line.split(/\s+/)[1] ?? "";
      search.resolve({ bestMove, infos: search.infos, timeMs: performance.now() - search.start });
    } else if (this.waiting && line.trim() === this.waiting.word) this.waiting.resolve(line);
    else if (line.startsWith("id name ")) this.id = line.slice(8).trim();
    else if (line.startsWith("option ")) {
      const option = parseUciOption(line.trim());
      if (option) this.options.set(option.name.toLowerCase(), option);
    }
  }

  /** Keeps the last exact line for each of the moves; a bound only if there is nothing better of the same move. */
  private keepInfo(search: Search, line: string): void {
    const index = Math.min(500, Number(/ multipv (\d+)/.exec(line)?.[1] ?? 1)) - 1;
    const isBound = / (lower|upper)bound/.test(line);
    const moveOf = (text: string | undefined) => / pv (\S+)/.exec(text ?? "")?.[1];
    if (index >= 0 && !(isBound && moveOf(search.infos[index]) === moveOf(line))) {
      search.infos[index] = line;
      search.onInfos?.(search.infos);
    }
  }

  /** Its time is over: it gets a moment to answer `stop`, so that we know whether it is slow, deaf or dead. */
  private async flagFall(deadlineMs: number): Promise<void> {
    const { search } = this;
    if (!search) return;
    let answered = false;
    const fallen = performance.now();
    const answer = new Promise<void>((resolve) => {
      const { resolve: late } = search;
      search.resolve = (found) => {
        answered = true;
        late(found); // `go` sees that it was late
        resolve();
      };
      setTimeout(resolve, this.times.graceMs);
    });
    this.process.write("stop\n");
    this.ask("isready", "readyok", this.times.graceMs * 2).catch(() => {}); // some are deaf while they think
    await answer;
    if (answered || this.search !== search) return;
    const seconds = (deadlineMs / 1000).toFixed(3);
    this.fail(
      search.heard > fallen
        ? new PlayerFault("time", `did not move within ${seconds} s, and did not heed "stop".`)
        : new PlayerFault("hang", `did not move within ${seconds} s, and no longer answers.`),
    );
  }

  /** In a search without a time limit: asks a silent engine whether it lives, and ends an endless search. */
  private async checkLife(): Promise<void> {
    const { search } = this;
    if (!search || this.waiting) return;
    const now = performance.now();
    if (now - search.start > this.times.longestMs) {
      await this.flagFall(this.times.longestMs);
    } else if (now - search.heard > this.times.silenceMs) {
      await this.ask("isready", "readyok", this.times.silenceMs).catch(() => {}); // a failure ends the search by itself
    }
  }

  private end({ reason, lastWords }: ProcessEnd): void {
    this.markEnded();
    if (this.closing) {
      this.waiting?.reject(new PlayerFault("crash", "was closed."));
      return;
    }
    const words = lastWords === "" ? "" : ` Its last words: ${lastWords.slice(-300)}`;
    this.fail(new PlayerFault("crash", `ended by itself (${reason}).${words}`));
  }

  /** Remembers the first fault, tells whoever waits, and puts an end to the process. */
  private fail(fault: PlayerFault): void {
    if (this.fault) return;
    this.fault = fault;
    this.process.kill();
    const { search, waiting } = this;
    this.search = undefined;
    if (!search && !waiting) this.onFault?.(fault);
    waiting?.reject(fault);
    search?.reject(fault);
  }
}

/** The `go` line for these limits. */
export function formatGo(
  limits: Limits,
  { ponder = false, moves = [] }: { ponder?: boolean; moves?: readonly string[] } = {},
): string {
  const { nodes, depth, mate, moveTimeMs, clock } = limits;
  const words = ["go"];
  if (ponder) words.push("ponder");
  if (clock) {
    // A clock never shows 0: some engines take that for no limit.
    const shown = (ms: number) => Math.max(1, Math.round(ms));
    words.push(`wtime ${shown(clock.whiteMs)} btime ${shown(clock.blackMs)}`);
    if (clock.whiteIncrementMs > 0 || clock.blackIncrementMs > 0) {
      words.push(`winc ${Math.round(clock.whiteIncrementMs)} binc ${Math.round(clock.blackIncrementMs)}`);
    }
    if (clock.movesToGo !== undefined) words.push(`movestogo ${clock.movesToGo}`);
  }
  if (depth !== undefined) words.push(`depth ${depth}`);
  if (nodes !== undefined) words.push(`nodes ${nodes}`);
  if (mate !== undefined) words.push(`mate ${mate}`);
  if (moveTimeMs !== undefined) words.push(`movetime ${Math.max(1, Math.round(moveTimeMs))}`);
  if (isEndless({ ...limits, deadlineMs: undefined })) words.push("infinite");
  if (moves.length > 0) words.push(`searchmoves ${moves.join(" ")}`); // last: some engines take all that follows for moves
  return words.join(" ");
}
