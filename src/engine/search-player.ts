import type { Position } from "#chess";
import {
  type Asking,
  type Limits,
  type OptionTable,
  type OptionValues,
  parseOption,
  parseOptionValues,
  type Search,
} from "#search";
import type { BenchResult } from "./bench.js";
import { LagMeter, lessTime } from "./lag.js";
import { networkOption } from "./network-options.js";
import type { Choice, Player, Report } from "./player.js";
import { reportOf } from "./report.js";

/** What every player that searches can be told, whatever its search. */
const commonOptions = (network: string) =>
  ({
    ...networkOption(network),
    overheadMs: {
      type: "integer",
      default: 10,
      min: 0,
      max: 5000,
      uci: "Move Overhead",
      help: "milliseconds of each move that are lost between the answer and the clock",
    },
  }) as const satisfies OptionTable;

type Common = OptionValues<ReturnType<typeof commonOptions>>;

/** A search with its network, ready to be asked. */
export interface OpenSearch<S extends Search> {
  search: S;
  evaluation: string; // what values the positions, in one line
  evaluate?(position: Position): Promise<number>; // in centipawns for the side to move, which is not in check
  bench?(depth: number, isOver: () => boolean): Promise<BenchResult>;
  close(): Promise<void>;
}

/** How a search becomes a player: what can be set, and when it takes effect. */
export interface SearchKind<S extends Search, T extends OptionTable> {
  options: T;
  opening: readonly (keyof T)[]; // options for which the search is opened anew
  open(network: string, settings: OptionValues<T>): Promise<OpenSearch<S>>;
  /** Applies the other options and the seed of a new game, between two searches. */
  configure?(search: S, settings: OptionValues<T>, seed: number): void;
  /** Options that limit each search. */
  limit?(limits: Limits, settings: OptionValues<T>, seed: number): Limits;
}

export interface SearchPlayerSpec {
  name: string;
  network: string;
  nodes: number | undefined; // most nodes a move
  options: Iterable<readonly [string, string]>;
}

/** A search as a player in games. What is set takes effect before the next question. */
export class SearchPlayer<S extends Search, T extends OptionTable> implements Player {
  readonly name: string;
  readonly options: OptionTable;
  private readonly settings: OptionValues<T> & Common;
  private readonly nodes: number | undefined;
  private opened: OpenSearch<S> | undefined;
  private isStale = true; // the search was opened with other settings
  private isChanged = true; // settings wait to be applied
  private seed = 1;
  private readonly lag = new LagMeter();

  private constructor(
    private readonly kind: SearchKind<S, T>,
    { name, network, nodes, options }: SearchPlayerSpec,
  ) {
    this.name = name;
    this.nodes = nodes;
    const table = { ...kind.options, ...commonOptions(network) };
    this.options = table;
    this.settings = parseOptionValues(`player "${name}"`, table, options) as OptionValues<T> & Common;
  }

  static async open<S extends Search, T extends OptionTable>(
    kind: SearchKind<S, T>,
    spec: SearchPlayerSpec,
  ): Promise<SearchPlayer<S, T>> {
    const player = new SearchPlayer(kind, spec);
    await player.refresh();
    return player;
  }

  async ready(): Promise<string> {
    return (await this.refresh()).evaluation;
  }

  async evaluate(position: Position): Promise<number | undefined> {
    return (await this.refresh()).evaluate?.(position);
  }

  async bench(depth: number, isOver: () => boolean): Promise<BenchResult | undefined> {
    return (await this.refresh()).bench?.(depth, isOver);
  }

  /** The search as it is set now. */
  private async refresh(): Promise<OpenSearch<S>> {
    if (this.isStale || !this.opened) {
      this.isStale = false; // if it cannot be opened, the old one stays until something is set again
      const opened = await this.kind.open(this.settings.network, this.settings);
      await this.opened?.close();
      this.opened = opened;
      this.isChanged = true;
    }
    if (this.isChanged) this.kind.configure?.(this.opened.search, this.settings, this.seed);
    this.isChanged = false;
    return this.opened;
  }

  async newGame({ seed = 1 }: { seed?: number } = {}): Promise<void> {
    this.seed = seed;
    this.isChanged = true;
    const { search } = await this.refresh();
    await search.clear();
  }

  async choose(position: Position, limits: Limits, asking: Asking<Report> = {}): Promise<Choice> {
    const start = performance.now();
    const { search } = await this.refresh();
    const { signal, ponderHit, onReport } = asking;
    const wanted = this.limitsOf(position, lessTime(limits, performance.now() - start));
    const searching = search.search(position, wanted, {
      signal,
      ponderHit,
      onReport: onReport && ((report) => onReport(reportOf(position, report))),
    });
    const found = await searching.catch((error) => {
      this.isStale = true; // a worker died, or the network failed: the next question gets another
      throw error;
    });
    const timeMs = performance.now() - start;
    if (limits.clock && !ponderHit) this.lag.answered(position, limits.clock, timeMs);
    return { ...reportOf(position, found), move: found.lines[0].pv[0], timeMs };
  }

  /** What was asked, and what the player's name and options say. */
  private limitsOf(position: Position, asked: Limits): Limits {
    const { overheadMs } = this.settings;
    const { clock } = asked;
    const limits = { ...asked, overheadMs: clock ? this.lag.allowance(position, clock, overheadMs) : overheadMs };
    const nodes = Math.min(this.nodes ?? Infinity, limits.nodes ?? Infinity);
    if (nodes < Infinity) limits.nodes = nodes;
    return this.kind.limit?.(limits, this.settings, this.seed) ?? limits;
  }

  async setOption(name: string, text: string): Promise<void> {
    const { name: key, value } = parseOption(`player "${this.name}"`, this.options, name, text);
    Object.assign(this.settings, { [key]: value });
    if (key === "network" || this.kind.opening.includes(key)) this.isStale = true;
    else this.isChanged = true;
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }
}
