import { openRandom } from "#base";
import { METRICS_FILE, type MetricsLine, parseLine } from "./metrics-log.js";

/** What was added to the metrics of a run. */
export interface MetricsAdded {
  from: number; // byte of the file at which the lines begin
  to: number; // and end
  lines: MetricsLine[];
  isResumed: boolean; // some earlier lines count no more: read all of them anew
}

const CHUNK = 1 << 20; // bytes read at once

/** Reads what was added to the metrics of a run after a byte of its file: whole lines, some thousands at most. */
export async function readAddedMetrics(run: string, from: number): Promise<MetricsAdded> {
  const nothing = { from, to: from, lines: [], isResumed: false };
  const file = await openRandom(`${run}/${METRICS_FILE}`).catch(() => undefined);
  if (!file) return nothing;
  try {
    if (file.size < from) return { ...nothing, isResumed: true }; // another run took the folder
    const bytes = file.read(from, Math.min(CHUNK, file.size - from));
    const length = bytes.lastIndexOf(10) + 1;
    const parsed = new TextDecoder()
      .decode(bytes.subarray(0, length))
      .split("\n")
      .flatMap((line) => parseLine(line) ?? []);
    const lines = parsed.filter((line): line is MetricsLine => line.kind !== "resume");
    return { from, to: from + length, lines, isResumed: lines.length < parsed.length };
  } finally {
    file.close();
  }
}
