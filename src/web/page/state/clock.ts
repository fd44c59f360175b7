import { type Color, opposite } from "#chess";

/** Minutes for the game and seconds for each move. */
export interface TimeControl {
  minutes: number;
  incrementSeconds: number;
}

/** Two clocks of which one runs at most. Times are passed in, so that nothing here reads the time of day. */
export class ChessClock {
  private readonly leftMs: Record<Color, number>;
  private running: { color: Color; sinceMs: number } | undefined;

  constructor(readonly control: TimeControl) {
    const ms = control.minutes * 60_000;
    this.leftMs = { white: ms, black: ms };
  }

  get incrementMs(): number {
    return this.control.incrementSeconds * 1000;
  }

  /** Whose clock runs. */
  get turn(): Color | undefined {
    return this.running?.color;
  }

  start(color: Color, nowMs: number): void {
    this.stop(nowMs);
    this.running = { color, sinceMs: nowMs };
  }

  stop(nowMs: number): void {
    if (this.running) this.leftMs[this.running.color] = this.remaining(this.running.color, nowMs);
    this.running = undefined;
  }

  /** The side whose clock runs has moved: it gets its increment, and the other clock starts. */
  press(nowMs: number): void {
    if (!this.running) return;
    const { color } = this.running;
    this.stop(nowMs);
    this.leftMs[color] += this.incrementMs;
    this.start(opposite(color), nowMs);
  }

  /** Never below 0. */
  remaining(color: Color, nowMs: number): number {
    const past = this.running?.color === color ? nowMs - this.running.sinceMs : 0;
    return Math.max(0, this.leftMs[color] - past);
  }

  /** Gives a side time it had before, when moves are taken back. */
  set(color: Color, ms: number): void {
    this.leftMs[color] = ms;
  }

  /** Who has no time left. */
  flagged(nowMs: number): Color | undefined {
    return this.running && this.remaining(this.running.color, nowMs) === 0 ? this.running.color : undefined;
  }
}

/** 5:07; below ten seconds 0:09.3; an hour and more 1:02:03. */
export function formatTime(ms: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  if (ms < 10_000) return `0:0${(Math.floor(ms / 100) / 10).toFixed(1)}`;
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
