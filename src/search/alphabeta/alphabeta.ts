import { assert, type Channel, openWorker, UserError } from "#base";
import type { Move, Position } from "#chess";
import type { Limits } from "../limits.js";
import type { Asking, Search, SearchReport } from "../search.js";
import { type ThinkingTime, thinkingTime } from "../time.js";
import {
  controlBytes,
  type FromWorker,
  HARD_MS,
  type Job,
  type Layout,
  SOFT_MS_AT,
  STOP,
  type ThreadLimits,
  type ToWorker,
} from "./protocol.js";

/** How an alpha-beta search is opened. */
export interface AlphaBetaOptions {
  /** A network as the core wants it (`nnueImage` makes it); undefined uses the small built-in evaluation. */
  image?: Uint8Array;
  hashMb?: number; // 16 by default
  threads?: number; // 1 by default; more only where memory can be shared
  shared?: boolean; // false never shares memory, as a page without cross-origin isolation cannot
}

export interface AlphaBetaLimits extends Limits {
  noise?: { cp: number; seed: number }; // evaluations are wrong by up to so many centipawns: a weaker player
}

/** Whether threads can share memory here: always in Node, in a page only if it is cross-origin isolated. */
const canShare = (): boolean =>
  typeof SharedArrayBuffer === "function" &&
  (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated !== false;

type Answer = FromWorker["type"];

/** A worker, its questions and answers in order. */
class Helper {
  onReport: ((report: SearchReport) => void) | undefined;
  private waiting: { type: Answer; resolve(message: FromWorker): void; reject(error: Error): void } | undefined;
  private dead: Error | undefined;

  constructor(private readonly channel: Channel) {
    channel.listen(
      (message) => this.hear(message as FromWorker),
      (reason) => {
        this.dead = reason;
        this.waiting?.reject(reason);
      },
    );
  }

  tell(message: ToWorker): void {
    this.channel.post(message);
  }

  async ask<T extends Answer>(message: ToWorker, type: T): Promise<Extract<FromWorker, { type: T }>> {
    if (this.dead) throw this.dead;
    const answer = await new Promise<FromWorker>((resolve, reject) => {
      this.waiting = { type, resolve, reject };
      this.tell(message);
    });
    return answer as Extract<FromWorker, { type: T }>;
  }

  close(): Promise<void> {
    return this.channel.close();
  }

  private hear(message: FromWorker): void {
    if (message.type === "report") this.onReport?.(message.report);
    else if (message.type === "failed") this.waiting?.reject(new Error(message.message));
    else if (message.type === this.waiting?.type) this.waiting.resolve(message);
  }
}

/**
 * The alpha-beta search over worker threads that share one transposition table (lazy SMP). The caller's thread stays
 * free: the signals work at any time.
 */
export class AlphaBeta implements Search {
  private age = 0;
  private running: Promise<unknown> | undefined;
  private startMs = 0;

  private constructor(
    private readonly helpers: readonly Helper[],
    private readonly layout: Layout,
    private readonly control: Int32Array | undefined, // where memory is shared
  ) {}

  static async create({
    image,
    hashMb = 16,
    threads = 1,
    shared = canShare(),
  }: AlphaBetaOptions = {}): Promise<AlphaBeta> {
    const count = shared ? threads : 1;
    const helpers = Array.from({ length: count }, () => new Helper(openWorker("search/alphabeta/search-worker")));
    try {
      const hashBytes = hashMb * 2 ** 20;
      const { layout, memory } = await helpers[0].ask(
        { type: "create", image, hashBytes, threads: count, shared },
        "created",
      );
      if (!memory) return new AlphaBeta(helpers, layout, undefined);
      await Promise.all(
        helpers.slice(1).map((helper, i) => helper.ask({ type: "join", memory, layout, index: i + 1 }, "joined")),
      );
      const control = new Int32Array(memory.buffer, layout.control, controlBytes(count) / 4);
      return new AlphaBeta(helpers, layout, control);
    } catch (error) {
      await Promise.all(helpers.map((helper) => helper.close()));
      if (error instanceof RangeError || /memory/i.test(String(error)))
        throw new UserError(
          "SEARCH_MEMORY",
          `There is not enough memory for a hash table of ${hashMb} MB. Choose a smaller one (option Hash).`,
        );
      throw error;
    }
  }

  get threads(): number {
    return this.layout.threads.length;
  }

  async search(
    position: Position,
    limits: AlphaBetaLimits,
    { signal, ponderHit, onReport }: Asking<SearchReport> = {},
  ): Promise<SearchReport> {
    assert(!this.running, "two searches at once");
    const legal = position.moves();
    const moves = limits.moves ? legal.filter((move) => limits.moves?.includes(move)) : legal;
    assert(moves.length > 0, "a search needs a legal move");
    this.age++;
    this.startMs = performance.timeOrigin + performance.now();
    const time = thinkingTime(position.turn, limits);
    const isPondering = ponderHit !== undefined && !ponderHit.aborted;
    const { nodes, depth, mate, multiPv, noise } = limits;
    const asked: ThreadLimits = { nodes, depth, mate, multiPv, noise, ...(isPondering ? {} : time) };
    if (signal?.aborted) asked.depth = 1;
    const { control, helpers } = this;
    if (control) {
      control.fill(0);
      new Float64Array(control.buffer, control.byteOffset + 8, 1)[0] = this.startMs;
      Atomics.store(control, SOFT_MS_AT(this.threads), Math.ceil(asked.softMs ?? 0));
      Atomics.store(control, HARD_MS, Math.ceil(asked.hardMs ?? 0));
    }
    const job = this.job(position, moves, asked);
    helpers[0].onReport = onReport;
    const answers = Promise.all(helpers.map((helper) => helper.ask({ type: "go", job }, "done")));
    this.running = answers;
    const stop = () => this.stop();
    const hit = () => this.limitTime(time);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    if (isPondering) ponderHit.addEventListener("abort", hit);
    try {
      return (await answers)[0].report;
    } finally {
      this.running = undefined;
      signal?.removeEventListener("abort", stop);
      ponderHit?.removeEventListener("abort", hit);
    }
  }

  /** The static evaluation in centipawns for the side to move, which must not be in check. */
  async evaluate(position: Position): Promise<number> {
    assert(!this.running, "an evaluation during a search");
    const job = this.job(position, position.moves(), {});
    return (await this.helpers[0].ask({ type: "evaluate", job }, "evaluated")).cp;
  }

  private job(position: Position, moves: Move[], limits: ThreadLimits): Job {
    const { startMs, age } = this;
    return { position: position.bytes(), keys: position.repeatableKeys(), moves, limits, startMs, age };
  }

  private stop(): void {
    if (this.control) Atomics.store(this.control, STOP, 1);
    else this.helpers[0].tell({ type: "stop" });
  }

  /** Gives the running search limits of time, counted from now. */
  private limitTime({ softMs = 0, hardMs = 0 }: ThinkingTime): void {
    const past = performance.timeOrigin + performance.now() - this.startMs;
    const [soft, hard] = [softMs, hardMs].map((ms) => (ms > 0 ? Math.ceil(ms + past) : 0));
    if (this.control) {
      Atomics.store(this.control, SOFT_MS_AT(this.threads), soft);
      Atomics.store(this.control, HARD_MS, hard);
    } else this.helpers[0].tell({ type: "time", softMs: soft, hardMs: hard });
  }

  async clear(): Promise<void> {
    await Promise.all(this.helpers.map((helper) => helper.ask({ type: "clear" }, "cleared")));
  }

  async close(): Promise<void> {
    this.stop();
    await Promise.all(this.helpers.map((helper) => helper.close()));
  }
}
