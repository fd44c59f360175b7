import { UserError } from "#base";

/** The time a player has for a game. */
export interface TimeControl {
  baseMs: number;
  incrementMs: number; // added after each move
  moves?: number; // `baseMs` is given anew after so many moves
}

/** Reads `10+0.1`, `60` or `40/60+1`: seconds, and the moves they are for. */
export function parseTimeControl(text: string): TimeControl {
  const match = /^(?:(\d+)\/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?$/.exec(text.trim());
  const [, moves, base, increment = "0"] = match ?? [];
  const control = { baseMs: Number(base) * 1000, incrementMs: Number(increment) * 1000 };
  if (!match || control.baseMs <= 0 || moves === "0") {
    throw new UserError(
      "TIME_CONTROL",
      `time control "${text}": expected seconds and increment, as 10+0.1, or moves too, as 40/60+0.5.`,
    );
  }
  return moves === undefined ? control : { ...control, moves: Number(moves) };
}

/** As PGN's TimeControl tag has it. */
export function formatTimeControl({ baseMs, incrementMs, moves }: TimeControl): string {
  const increment = incrementMs > 0 ? `+${incrementMs / 1000}` : "";
  return `${moves === undefined ? "" : `${moves}/`}${baseMs / 1000}${increment}`;
}

/** One side's clock. */
export class ChessClock {
  leftMs: number;
  private moves = 0;

  constructor(private readonly control: TimeControl) {
    this.leftMs = control.baseMs;
  }

  get movesToGo(): number | undefined {
    return this.control.moves === undefined ? undefined : this.control.moves - (this.moves % this.control.moves);
  }

  /** Takes the time of a move that was made in time (within the margin) and gives the increment. */
  spend(timeMs: number): void {
    this.moves++;
    this.leftMs = Math.max(0, this.leftMs - timeMs) + this.control.incrementMs;
    if (this.control.moves !== undefined && this.moves % this.control.moves === 0) this.leftMs += this.control.baseMs;
  }
}
