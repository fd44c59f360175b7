import type { Io } from "./command.js";

const WIDTH = 20; // characters of the bar
const EVERY_MS = 100;

/** 1234567 -> "1.23 M" */
export function formatCount(count: number): string {
  if (count < 10_000) return String(Math.round(count));
  const [divisor, unit] = count < 1e6 ? [1e3, "k"] : count < 1e9 ? [1e6, "M"] : [1e9, "G"];
  const value = count / divisor;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
}

/** 3723 -> "1:02:03" */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  const pad = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
}

/**
 * A bar with rate and time left, shown through `io.progress`. `unit` names what is counted, as "positions"; the share done
 * may be measured in something else, as bytes of the input.
 */
export class ProgressBar {
  private readonly start = performance.now();
  private shown = 0;

  constructor(
    private readonly io: Io,
    private readonly unit: string,
    private readonly before = 0, // counted in an earlier run, so not part of the rate
  ) {}

  show(count: number, done: number, total: number | undefined, more = ""): void {
    const now = performance.now();
    if (now - this.shown < EVERY_MS) return;
    this.shown = now;
    const seconds = (now - this.start) / 1000;
    const rate = `${formatCount(count)} ${this.unit}, ${formatCount((count - this.before) / seconds)}/s`;
    if (total === undefined || total === 0) {
      this.io.progress(`${rate}, ${formatDuration(seconds)}${more}`);
      return;
    }
    const share = Math.min(1, done / total);
    const full = Math.round(share * WIDTH);
    const bar = "#".repeat(full) + ".".repeat(WIDTH - full);
    const left = share > 0 ? formatDuration((seconds * (1 - share)) / share) : "?";
    this.io.progress(`[${bar}] ${(100 * share).toFixed(0)} %  ${rate}, ${left} left${more}`);
  }
}

/** Seconds since it was made. */
export function stopwatch(): () => number {
  const start = performance.now();
  return () => Number(((performance.now() - start) / 1000).toFixed(3));
}
