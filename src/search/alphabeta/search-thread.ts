import { compileWasm, createMemory, WasmInstance } from "#base";
import type { SearchReport } from "../search.js";
import { stretch } from "../time.js";
import { controlBytes, HARD_MS, type Job, type Layout, NODES_AT, SOFT_MS_AT, STOP } from "./protocol.js";

/** What of the core a thread calls. */
export interface SearchExports {
  init(): void;
  threadBytes(network: number): number;
  threadStart(
    index: number,
    alone: boolean,
    memory: number,
    network: number,
    table: number,
    tableBytes: number,
    control: number,
  ): void;
  setRoot(position: number, keys: number, list: number, count: number, network: boolean): void;
  gameKeys(): number;
  rootTable(): number;
  beginIteration(): void;
  searchLine(depth: number, first: number): number;
  selectiveDepth(): number;
  resume(nodes: bigint): void;
  nodesSearched(): bigint;
  rootEvaluation(): number;
  setNoise(cp: number, seed: bigint): void;
  tableAge(age: number): void;
  tableClear(): void;
  tableUse(): number;
  historyClear(): void;
}

const ROOT_MOVE_BYTES = 288;
const DEEPEST = 120; // plies
const POSITION_BYTES = 160;
const MOST_KEYS = 250;
const FOREVER = 2n ** 62n;
const SLICE = 150_000; // nodes between two looks at messages, where there is no shared memory

/** One thread of the search: an instance of the chess module with a part of the memory for itself. */
export class SearchThread {
  private readonly input: number; // a position and a list of moves, on their way into the module
  private readonly control: Int32Array;
  private readonly threads: number;

  private constructor(
    private readonly wasm: WasmInstance<SearchExports>,
    readonly layout: Layout,
    private readonly index: number,
    private readonly shared: boolean,
  ) {
    this.threads = layout.threads.length;
    this.input = layout.threads[index] - 1024;
    wasm.exports.threadStart(
      index,
      this.threads === 1,
      layout.threads[index],
      layout.image,
      layout.table,
      layout.tableBytes,
      layout.control,
    );
    this.control = new Int32Array(wasm.memory.buffer, layout.control, controlBytes(this.threads) / 4);
  }

  get memory(): WebAssembly.Memory {
    return this.wasm.memory;
  }

  /** The first thread: makes the memory and lays out what all share. */
  static async create(
    image: Uint8Array | undefined,
    hashBytes: number,
    threads: number,
    shared: boolean,
  ): Promise<SearchThread> {
    const module = await compileWasm(shared ? "chess-shared" : "chess");
    const memory = shared
      ? createMemory({
          shared,
          maximumPages: Math.ceil((hashBytes + (image?.length ?? 0) + threads * 6e6 + 6e6) / 65536),
        })
      : createMemory();
    const wasm = new WasmInstance<SearchExports>(module, memory);
    wasm.exports.init();
    const control = wasm.allocate(controlBytes(threads));
    const at = image ? wasm.allocate(image.length) : 0;
    if (image) new Uint8Array(memory.buffer).set(image, at);
    const each = wasm.exports.threadBytes(at);
    const blocks = Array.from({ length: threads }, () => wasm.allocate(each + 1024) + 1024);
    const table = wasm.allocate(hashBytes);
    return new SearchThread(wasm, { control, image: at, table, tableBytes: hashBytes, threads: blocks }, 0, shared);
  }

  /** A further thread in the memory of the first. */
  static async join(memory: WebAssembly.Memory, layout: Layout, index: number): Promise<SearchThread> {
    return new SearchThread(
      new WasmInstance<SearchExports>(await compileWasm("chess-shared"), memory),
      layout,
      index,
      true,
    );
  }

  /** Forgets the table and what was learned. */
  clear(): void {
    this.wasm.exports.historyClear();
    if (this.index === 0) this.wasm.exports.tableClear();
  }

  /** The static evaluation, in centipawns for the side to move. */
  evaluate(job: Job): number {
    this.enter(job);
    return this.wasm.exports.rootEvaluation();
  }

  stop(): void {
    Atomics.store(this.control, STOP, 1);
  }

  limitTime(softMs: number, hardMs: number): void {
    Atomics.store(this.control, SOFT_MS_AT(this.threads), softMs);
    Atomics.store(this.control, HARD_MS, hardMs);
  }

  /** Searches until a limit or the stop flag; `report` hears of every iteration, `breathe` lets messages come in. */
  async run(job: Job, report: (report: SearchReport) => void, breathe: () => Promise<void>): Promise<SearchReport> {
    const { wasm, index } = this;
    const core = wasm.exports;
    this.enter(job);
    const { limits, startMs } = job;
    const lines = Math.max(1, Math.min(limits.multiPv ?? 1, job.moves.length));
    const most = limits.nodes === undefined ? FOREVER : BigInt(Math.max(1, Math.ceil(limits.nodes / this.threads)));
    const deepest = Math.min(limits.depth ?? DEEPEST, DEEPEST);
    const now = () => performance.timeOrigin + performance.now() - startMs;
    let last = this.report(0, lines, now());
    let stable = 0;
    for (let depth = 1; depth <= deepest; depth++) {
      core.beginIteration();
      let whole = true;
      for (let line = 0; line < lines && whole; line++) whole = await this.searchLine(depth, line, most, breathe);
      const before = last;
      last = this.report(whole ? depth : depth - 1, lines, now());
      if (!whole) {
        // Half an iteration may have changed the answer: whoever listens heard of another one.
        const isNews = last.lines[0].pv.join() !== before.lines[0].pv.join();
        if (index === 0 && depth > 1 && isNews) report(last);
        break;
      }
      if (index !== 0) continue;
      report(last);
      const best = last.lines[0];
      stable = before.lines[0].pv[0] === best.pv[0] ? stable + 1 : 0;
      const softMs = this.control[SOFT_MS_AT(this.threads)];
      if (softMs > 0) {
        const factor = depth < 6 ? 1 : stretch(stable, this.shareOfBest(), before.lines[0].scoreCp - best.scoreCp);
        if (now() >= softMs * (job.moves.length === 1 ? 0.1 : factor)) break;
      }
      // A mate that three times its depth could not shorten is the shortest.
      const matePlies = 32_000 - Math.abs(best.scoreCp);
      if (softMs + this.control[HARD_MS] > 0 && matePlies <= 256 && depth >= 3 * matePlies + 4) break;
      const mate = limits.mate;
      if (mate !== undefined && best.scoreCp >= 32_000 - 2 * mate) break;
    }
    if (index === 0) this.stop();
    return last;
  }

  /** One line at one depth. Without shared memory it is searched in slices, each begun again: the table knows the way. */
  private async searchLine(depth: number, line: number, most: bigint, breathe: () => Promise<void>): Promise<boolean> {
    const core = this.wasm.exports;
    let slice = this.shared ? Number(FOREVER) : SLICE;
    while (true) {
      const left = Number(most - core.nodesSearched());
      if (left <= 0 || (depth > 1 && this.control[STOP] !== 0)) return false;
      core.resume(BigInt(Math.min(left, slice)));
      if (core.searchLine(depth, line)) {
        if (!this.shared) await breathe();
        return true;
      }
      if (this.shared || core.nodesSearched() >= most) return false;
      await breathe();
      slice = Math.round(slice * 1.5);
    }
  }

  private enter({ position, keys, moves, limits, startMs, age }: Job): void {
    const { wasm, layout, input } = this;
    if (!this.shared) {
      this.control[STOP] = 0;
      new DataView(wasm.memory.buffer).setFloat64(layout.control + 8, startMs, true);
      this.limitTime(Math.ceil(limits.softMs ?? 0), Math.ceil(limits.hardMs ?? 0));
    }
    const { buffer } = wasm.memory;
    new Uint8Array(buffer).set(position, input);
    new Uint16Array(buffer, input + POSITION_BYTES, moves.length).set(moves);
    const kept = keys.slice(-MOST_KEYS);
    new BigUint64Array(buffer, wasm.exports.gameKeys(), kept.length).set(kept);
    wasm.exports.tableAge(age);
    wasm.exports.setNoise(limits.noise?.cp ?? 0, BigInt(limits.noise?.seed ?? 0));
    wasm.exports.setRoot(input, kept.length, input + POSITION_BYTES, moves.length, layout.image !== 0);
  }

  private get totalNodes(): number {
    const counts = new BigUint64Array(this.memory.buffer, this.layout.control + NODES_AT, this.threads);
    return Number(counts.reduce((sum, count) => sum + count, 0n));
  }

  /** Share of this thread's nodes that went into its best move. */
  private shareOfBest(): number {
    const view = new DataView(this.memory.buffer, this.wasm.exports.rootTable());
    return Number(view.getBigUint64(24, true)) / Math.max(1, Number(this.wasm.exports.nodesSearched()));
  }

  private report(depth: number, count: number, timeMs: number): SearchReport {
    const lines = Array.from({ length: count }, (_, i) => {
      const view = new DataView(this.memory.buffer, this.wasm.exports.rootTable() + i * ROOT_MOVE_BYTES);
      // A move not looked at in this iteration keeps the score it had.
      const score = view.getInt32(4, true);
      const scoreCp = score === -32_001 ? view.getInt32(8, true) : score;
      const pv = Array.from({ length: view.getInt32(20, true) }, (_, ply) => view.getUint16(32 + ply * 2, true));
      return {
        scoreCp: scoreCp === -32_001 ? 0 : scoreCp,
        depth,
        selDepth: Math.max(depth, view.getInt32(16, true)),
        pv,
      };
    });
    return {
      lines,
      depth,
      nodes: this.totalNodes,
      timeMs: Math.max(0, timeMs),
      hashFull: this.wasm.exports.tableUse(),
    };
  }
}
