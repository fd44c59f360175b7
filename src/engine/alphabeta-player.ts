import { formatUci, type Move, type Position } from "#chess";
import {
  type Asking,
  type Limits,
  MATE_FOUND_CP,
  parseOptionValues,
  type Search,
  type SearchLine,
  type SearchReport,
} from "#search";
import { LagMeter } from "./lag.js";
import type { Choice, Line, Player, Report } from "./player.js";

/** Moves to mate of a score, negative for the mated side; undefined if it is no mate. */
export function mateOf(scoreCp: number): number | undefined {
  if (Math.abs(scoreCp) < MATE_FOUND_CP) return undefined;
  return scoreCp > 0 ? Math.ceil((32_000 - scoreCp) / 2) : -Math.floor((32_000 + scoreCp) / 2);
}

/**
 * Chances of win, draw and loss in thousandths for a score: two logistic curves, by which +1.20 wins every second game. A
 * rule of thumb; it was not fitted to games.
 */
export function wdlOf(scoreCp: number): [number, number, number] {
  const chance = (cp: number) => Math.round(1000 / (1 + Math.exp(-(cp - 120) / 70)));
  const [win, loss] = [chance(scoreCp), chance(-scoreCp)];
  return [win, 1000 - win - loss, loss];
}

/** The moves of a line in UCI, as far as they are legal. */
export function formatLine(position: Position, line: readonly Move[]): string[] {
  const board = position.clone();
  const words: string[] = [];
  for (const move of line) {
    if (!board.isLegal(move)) break;
    words.push(formatUci(board, move));
    board.play(move);
  }
  return words;
}

/** What a search found, for whoever asked. */
export function reportOf(position: Position, { lines, depth, nodes, timeMs, hashFull, moves }: SearchReport): Report {
  const byMove = (read: (root: NonNullable<SearchReport["moves"]>[number]) => number | undefined) => {
    const known = (moves ?? []).flatMap((root) => {
      const number = read(root);
      return number === undefined ? [] : [[formatUci(position, root.move), number] as const];
    });
    return known.length === 0 ? undefined : Object.fromEntries(known.sort((a, b) => b[1] - a[1]));
  };
  return {
    lines: lines.map((line) => lineOf(position, line)),
    depth,
    nodes,
    timeMs,
    hashFull,
    policy: byMove(({ share }) => share),
    visits: byMove(({ visits }) => visits),
    values: byMove(({ value }) => value),
  };
}

const lineOf = (position: Position, { scoreCp, wdl, depth, selDepth, visits, pv }: SearchLine): Line => ({
  scoreCp,
  mate: mateOf(scoreCp),
  wdl: wdl ? thousandths(wdl) : wdlOf(scoreCp),
  depth,
  selDepth,
  visits,
  pv: formatLine(position, pv),
});

/** Win, draw, loss in whole thousandths that add up. */
export function thousandths(wdl: ArrayLike<number>): [number, number, number] {
  const [win, loss] = [Math.round(wdl[0] * 1000), Math.round(wdl[2] * 1000)];
  return [win, 1000 - win - loss, loss];
}

const OVERHEAD_MS = 15;

/** The alpha-beta search as a player in games. */
export class AlphaBetaPlayer implements Player {
  readonly options = {};
  private readonly lag = new LagMeter();

  constructor(
    readonly name: string,
    private readonly engine: Search,
    private readonly nodes: number | undefined, // most nodes a move
  ) {}

  async newGame(): Promise<void> {
    await this.engine.clear();
  }

  async choose(position: Position, limits: Limits, asking: Asking<Report> = {}): Promise<Choice> {
    const start = performance.now();
    const { clock } = limits;
    const wanted = { ...limits, overheadMs: clock ? this.lag.allowance(position, clock, OVERHEAD_MS) : OVERHEAD_MS };
    const nodes = Math.min(this.nodes ?? Infinity, limits.nodes ?? Infinity);
    if (nodes < Infinity) wanted.nodes = nodes;
    const { signal, ponderHit, onReport } = asking;
    const found = await this.engine.search(position, wanted, {
      signal,
      ponderHit,
      onReport: onReport && ((report) => onReport(reportOf(position, report))),
    });
    const timeMs = performance.now() - start;
    if (clock && !ponderHit) this.lag.answered(position, clock, timeMs);
    return { ...reportOf(position, found), move: found.lines[0].pv[0], timeMs };
  }

  async setOption(name: string, value: string): Promise<void> {
    parseOptionValues(`player "${this.name}"`, this.options, [[name, value]]);
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}
