// The metrics of a run: metrics.jsonl for programs, and the same in event files for TensorBoard. Both only grow. A run that
// is resumed at an earlier step than it was noted at says so, and readers forget what came after that step.
import { appendToFile, listFolder, openRandom, readText, UserError } from "#base";
import { eventFileStart, restartEvent, scalarEvent } from "./event-file.js";

/** What was measured at a step. */
export interface MetricsLine {
  kind: "train" | "validation";
  step: number;
  epoch: number;
  time: number; // seconds since 1970
  values: Record<string, number>;
}

/** The run went on from this step; what was noted after it before counts no more. */
interface ResumeLine {
  kind: "resume";
  step: number;
  time: number;
}

export const METRICS_FILE = "metrics.jsonl";
const TAIL = 16_384; // bytes, many lines

const eventsOf = (names: readonly string[]) => names.filter((name) => name.startsWith("events.out.tfevents."));

/** What was noted from a step on, in order. */
export async function readMetrics(run: string, fromStep = 0): Promise<MetricsLine[]> {
  return replay(await readText(`${run}/${METRICS_FILE}`).catch(orNothing)).filter(({ step }) => step >= fromStep);
}

/** The last line that counts, without reading the file from its start; undefined if there is none near its end. */
export async function lastMetrics(run: string): Promise<MetricsLine | undefined> {
  const file = await openRandom(`${run}/${METRICS_FILE}`).catch(orNothing);
  if (file === "") return undefined;
  try {
    const start = Math.max(0, file.size - TAIL);
    const text = new TextDecoder().decode(file.read(start, file.size - start));
    return replay(start === 0 ? text : text.slice(text.indexOf("\n") + 1)).at(-1);
  } finally {
    file.close();
  }
}

function orNothing(error: unknown): "" {
  if (error instanceof UserError && error.code === "FILE_MISSING") return "";
  throw error;
}

function replay(text: string): MetricsLine[] {
  let lines: MetricsLine[] = [];
  for (const line of text.split("\n").flatMap((each) => parseLine(each) ?? [])) {
    if (line.kind === "resume") lines = lines.filter(({ step }) => step <= line.step);
    else lines.push(line);
  }
  return lines;
}

/** A line of the log; undefined if a crash cut it off. */
export function parseLine(line: string): MetricsLine | ResumeLine | undefined {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Adds to the metrics of a run. */
export class MetricsLog {
  private constructor(
    private readonly lines: string,
    private readonly events: string,
  ) {}

  /** Begins the log of a run, or goes on with it after `step`. */
  static async open(run: string, step: number, time: number): Promise<MetricsLog> {
    const names = (await listFolder(run)) ?? [];
    // A file of events that a crash cut off cannot be added to; TensorBoard reads the files in the order of their names.
    const events = `${run}/events.out.tfevents.${String(eventsOf(names).length).padStart(6, "0")}.tabiya`;
    const log = new MetricsLog(`${run}/${METRICS_FILE}`, events);
    await appendToFile(events, eventFileStart(time));
    if (!names.includes(METRICS_FILE)) await appendToFile(log.lines, "");
    else {
      const resume: ResumeLine = { kind: "resume", step, time };
      await appendToFile(log.lines, `\n${JSON.stringify(resume)}\n`); // a line may have been cut off
      await appendToFile(events, restartEvent(time, step + 1));
    }
    return log;
  }

  async write(line: MetricsLine): Promise<void> {
    const { kind, step, time, values } = line;
    const named = Object.fromEntries(Object.entries(values).map(([key, value]) => [`${kind}/${key}`, value]));
    await appendToFile(this.lines, `${JSON.stringify(line)}\n`);
    await appendToFile(this.events, scalarEvent(time, step, named));
  }
}
