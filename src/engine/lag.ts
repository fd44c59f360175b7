import type { Color, Position } from "#chess";
import type { Clock, Limits } from "#search";

const FADING = 0.8; // of the lag that was seen, for each move since
const MOST_MS = 1_000; // a program that adjusts its clocks must not frighten us for ever

/**
 * How much time a move loses on its way: what our clock lost between two moves, less what we thought. A busy machine or a slow
 * line costs more than any fixed allowance.
 */
export class LagMeter {
  private last: { color: Color; fullmoves: number; leftMs: number; incrementMs: number; thoughtMs: number } | undefined;
  private seenMs = 0;

  /** A move is wanted: looks at the clock, and says how much to allow for the way, at least `leastMs`. */
  allowance(position: Position, { whiteMs, blackMs }: Clock, leastMs: number): number {
    const { last } = this;
    const leftMs = position.turn === "white" ? whiteMs : blackMs;
    this.seenMs *= FADING;
    if (last && last.color === position.turn && last.fullmoves + 1 === position.fullmoves) {
      const lagMs = last.leftMs + last.incrementMs - leftMs - last.thoughtMs;
      this.seenMs = Math.min(MOST_MS, Math.max(this.seenMs, lagMs));
    }
    this.last = undefined;
    return Math.max(leastMs, Math.ceil(this.seenMs));
  }

  /** The move was answered after so many milliseconds. */
  answered(position: Position, clock: Clock, thoughtMs: number): void {
    const white = position.turn === "white";
    this.last = {
      color: position.turn,
      fullmoves: position.fullmoves,
      leftMs: white ? clock.whiteMs : clock.blackMs,
      incrementMs: white ? clock.whiteIncrementMs : clock.blackIncrementMs,
      thoughtMs,
    };
  }
}

/** The limits of a search that begins later than it was asked for. */
export function lessTime(limits: Limits, waitedMs: number): Limits {
  const { clock, moveTimeMs, deadlineMs } = limits;
  const left = (ms: number | undefined) => ms && Math.max(1, ms - waitedMs);
  return {
    ...limits,
    moveTimeMs: left(moveTimeMs),
    deadlineMs: left(deadlineMs),
    clock: clock && { ...clock, whiteMs: clock.whiteMs - waitedMs, blackMs: clock.blackMs - waitedMs },
  };
}
