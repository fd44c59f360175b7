import { appendToFile, readText, writeFile } from "#base";
import { eventFileStart, scalarEvent } from "./event-file.js";

/** What was measured at a step. */
export interface MetricsLine {
  kind: "train" | "validation";
  step: number;
  epoch: number;
  time: number; // seconds since 1970
  values: Record<string, number>;
}

const start = eventFileStart(0); // whatever the clock says, so that the same metrics give the same file
const eventOf = ({ kind, step, time, values }: MetricsLine) =>
  scalarEvent(time, step, Object.fromEntries(Object.entries(values).map(([key, value]) => [`${kind}/${key}`, value])));

/** The metrics of a run: JSON lines for programs, and the same for TensorBoard. */
export class MetricsLog {
  private constructor(
    private readonly lines: string,
    private readonly events: string,
  ) {}

  /** Begins a log, or goes on with one: what was noted after `step` will be measured again, and is dropped. */
  static async open(run: string, step: number): Promise<MetricsLog> {
    const log = new MetricsLog(`${run}/metrics.jsonl`, `${run}/events.out.tfevents.0.tabiya`);
    const text = step === 0 ? "" : await readText(log.lines).catch(() => "");
    const kept = text
      .split("\n")
      .flatMap((line) => parseLine(line) ?? [])
      .filter((line) => line.step <= step);
    await writeFile(log.lines, kept.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await writeFile(log.events, start);
    for (const line of kept) await appendToFile(log.events, eventOf(line));
    return log;
  }

  async write(line: MetricsLine): Promise<void> {
    await appendToFile(this.lines, `${JSON.stringify(line)}\n`);
    await appendToFile(this.events, eventOf(line));
  }
}

/** A line of the log; undefined if a crash cut it off. */
function parseLine(line: string): MetricsLine | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
