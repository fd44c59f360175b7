import { formatUci, type Move, type Position } from "#chess";
import { allotTime, MATE_FOUND_CP, type Search, type SearchLimits, type SearchLine } from "#search";
import { LagMeter } from "./lag.js";
import type { Choice, Limits, Player, Variation } from "./player.js";

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

/** What a game's limits mean for the search. */
export function searchLimits(position: Position, limits: Limits, overheadMs: number): SearchLimits {
  const { clock, moveTimeMs, nodes, depth, multiPv } = limits;
  const result: SearchLimits = { nodes, depth, multiPv };
  if (clock) {
    const white = position.turn === "white";
    const times = allotTime({
      leftMs: white ? clock.whiteMs : clock.blackMs,
      incrementMs: white ? clock.whiteIncrementMs : clock.blackIncrementMs,
      movesToGo: clock.movesToGo,
      overheadMs,
    });
    Object.assign(result, times);
  }
  if (moveTimeMs !== undefined)
    result.hardMs = Math.max(1, Math.min(moveTimeMs - Math.min(overheadMs, 5), result.hardMs ?? Infinity));
  return result;
}

const OVERHEAD_MS = 15;

/** The alpha-beta search as a player in games. */
export class AlphaBetaPlayer implements Player {
  private readonly lag = new LagMeter();

  constructor(
    readonly name: string,
    private readonly engine: Search,
    private readonly nodes: number | undefined, // most nodes a move
  ) {}

  async newGame(): Promise<void> {
    await this.engine.clear();
  }

  async choose(position: Position, limits: Limits): Promise<Choice> {
    const start = performance.now();
    const { clock } = limits;
    const overheadMs = clock ? this.lag.allowance(position, clock, OVERHEAD_MS) : OVERHEAD_MS;
    const wanted = searchLimits(position, limits, overheadMs);
    wanted.nodes = Math.min(this.nodes ?? Infinity, wanted.nodes ?? Infinity);
    if (wanted.nodes === Infinity) delete wanted.nodes;
    const { lines, nodes, depth } = await this.engine.search(position, wanted);
    const variations = lines.map((line) => this.variation(position, line, depth));
    if (clock) this.lag.answered(position, clock, performance.now() - start);
    return { ...variations[0], move: lines[0].pv[0], nodes, timeMs: performance.now() - start, variations };
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  private variation(position: Position, { scoreCp, pv }: SearchLine, depth: number): Variation {
    return { scoreCp, mate: mateOf(scoreCp), wdl: wdlOf(scoreCp), depth, pv: formatLine(position, pv) };
  }
}
