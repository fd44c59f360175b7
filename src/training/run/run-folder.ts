import * as z from "zod";
import {
  isProcessAlive,
  listFolder,
  makeFolder,
  mendFolder,
  processKey,
  readText,
  removeFolder,
  UserError,
  writeFile,
} from "#base";
import { upgradeSettings } from "../upgrade.js";
import { loadMetadata } from "./checkpoint.js";
import { lastMetrics, type MetricsLine, MetricsLog, readMetrics } from "./metrics-log.js";

/** What can become of a run. */
export const RUN_STATES = ["running", "stopped", "finished", "failed"] as const;
/** What became of a run, or that it goes on. */
export type RunState = (typeof RUN_STATES)[number];

/** What becomes of a run, in status.json. */
interface StatusFile {
  state: RunState;
  process: string; // key of the one that trains, or trained last
  updatedMs: number; // when the state changed, since 1970
  message: string; // why it failed; else empty
  steps?: number; // of the whole run
}

/** How a run stands. */
export interface RunStatus {
  state: RunState;
  process: string; // key of the one that trains, or trained last; empty if not known
  step: number; // that it has taken, as far as was measured
  steps?: number; // of the whole run, if it is known
  updatedMs: number;
  message: string;
  isDead: boolean; // its process ended without a word, so that nothing says why
  /** The last line of the metrics, which says how far the run is; undefined if there is none. */
  last: MetricsLine | undefined;
}

/** A checkpoint of a run. */
export interface RunCheckpoint {
  name: string; // best, epoch_003 or step_000001200
  path: string;
  epoch: number; // the one it was saved in, from 1
  step: number;
}

const statusSchema = z.object({
  state: z.enum(RUN_STATES),
  process: z.string(),
  updatedMs: z.number(),
  message: z.string(),
  steps: z.number().optional(),
}) satisfies z.ZodType<StatusFile>;

const [CONFIG, STATUS, BEST] = ["config.json", "status.json", "best"];
const DIED = "Its process died without a word. Resume the run to go on from its last checkpoint.";
const epochName = (epoch: number) => `epoch_${String(epoch).padStart(3, "0")}`;
const stepName = (step: number) => `step_${String(step).padStart(9, "0")}`;
const isStep = (name: string) => /^step_\d+$/.test(name);
const isEpoch = (name: string) => /^epoch_\d+$/.test(name);
const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/**
 * The folder that keeps all of a run: config.json, status.json, metrics.jsonl, event files for TensorBoard, and the
 * checkpoints epoch_001/, ..., step_000000500/ (within an epoch) and best/. Whoever trains enters it; anybody may open it
 * to read, also while it grows.
 */
export class RunFolder {
  private constructor(
    readonly path: string,
    private readonly steps?: number, // of the whole run, for the one who trains
  ) {}

  /** Opens a folder that holds a run. */
  static async open(path: string): Promise<RunFolder> {
    if (await RunFolder.isRun(path)) return new RunFolder(path);
    throw new UserError("RUN_MISSING", `${path}: no run of tabiya train in this folder: expected ${CONFIG}.`);
  }

  static async isRun(path: string): Promise<boolean> {
    return (await listFolder(path))?.includes(CONFIG) ?? false;
  }

  /** Makes the folder of a new run, or makes sure that the run in it has the same config; from now on it is running. */
  static async enter(
    path: string,
    config: Readonly<Record<string, unknown>>,
    { resume, steps, now }: { resume?: boolean; steps?: number; now: () => number },
  ): Promise<RunFolder> {
    const run = new RunFolder(path, steps);
    if (!(await RunFolder.isRun(path))) {
      await makeFolder(path);
      await writeFile(`${path}/${CONFIG}`, json(config));
    } else if (!resume) {
      throw new UserError("RUN_EXISTS", `${path}: holds a run already. Resume it, or choose another folder.`);
    } else {
      checkSame(path, await run.config(), config);
      if ((await run.status()).state === "running")
        throw new UserError(
          "RUN_BUSY",
          `${path}: this run is being trained by another process. Wait for it, or stop it.`,
        );
    }
    await run.mend();
    await run.setStatus("running", now());
    return run;
  }

  /** Says how the work on the run ended. */
  leave(state: Exclude<RunState, "running">, nowMs: number, message = ""): Promise<void> {
    return this.setStatus(state, nowMs, message);
  }

  private setStatus(state: RunState, updatedMs: number, message = ""): Promise<void> {
    const status: StatusFile = { state, process: processKey(), updatedMs, message, steps: this.steps };
    return writeFile(`${this.path}/${STATUS}`, json(status));
  }

  /** The settings the run was begun with, and the fingerprints of its data. */
  async config(): Promise<Record<string, unknown>> {
    const path = `${this.path}/${CONFIG}`;
    return upgradeSettings((await readJson(path, "RUN_CONFIG")) as Record<string, unknown>);
  }

  /** Where the run stands. One whose process is gone has failed, whatever its file says. */
  async status(): Promise<RunStatus> {
    const last = await lastMetrics(this.path);
    const path = `${this.path}/${STATUS}`;
    if (!(await this.names()).includes(STATUS)) {
      // Runs of before 2026-11-18 left no status.
      const done = (await this.names()).includes(epochName(Number((await this.config()).epochs)));
      return {
        state: done ? "finished" : "stopped",
        process: "",
        step: last?.step ?? 0,
        updatedMs: (last?.time ?? 0) * 1000,
        message: "",
        isDead: false,
        last,
      };
    }
    const parsed = statusSchema.safeParse(await readJson(path, "RUN_STATUS"));
    if (!parsed.success) throw new UserError("RUN_STATUS", `${path}: not the status of a run. Remove the file.`);
    const { state, steps } = parsed.data;
    const step = state === "finished" && steps ? steps : (last?.step ?? 0); // the last ones are not measured
    const status = { ...parsed.data, step };
    if (status.state !== "running" || isProcessAlive(status.process)) return { ...status, isDead: false, last };
    return { ...status, state: "failed", message: DIED, isDead: true, last };
  }

  /** What was measured from a step on. */
  metrics(fromStep = 0): Promise<MetricsLine[]> {
    return readMetrics(this.path, fromStep);
  }

  /** All checkpoints, in the order of their steps; the best is among them twice, also as `best`. */
  async checkpoints(): Promise<RunCheckpoint[]> {
    const found: RunCheckpoint[] = [];
    for (const name of await this.names()) {
      if (!isStep(name) && !isEpoch(name) && name !== BEST) continue;
      const path = `${this.path}/${name}`;
      // One within an epoch may be removed while we look.
      const metadata = await loadMetadata(path).catch((error: unknown) => {
        if (error instanceof UserError && error.code === "FILE_MISSING") return undefined;
        throw error;
      });
      if (metadata) found.push({ name, path, epoch: Number(metadata.epoch), step: Number(metadata.step) });
    }
    return found.sort((a, b) => a.step - b.step);
  }

  /** The checkpoints of whole epochs that were kept. */
  async epochs(): Promise<RunCheckpoint[]> {
    return (await this.checkpoints()).filter(({ name }) => isEpoch(name));
  }

  /** The checkpoint the run got furthest with, to resume from; undefined if there is none yet. */
  async latest(): Promise<RunCheckpoint | undefined> {
    return (await this.checkpoints()).filter(({ name }) => name !== BEST).at(-1);
  }

  // What follows is for the one who trains.

  /** Opens the metrics to add to them, after `step`. */
  log(step: number, nowMs: number): Promise<MetricsLog> {
    return MetricsLog.open(this.path, step, nowMs / 1000);
  }

  get best(): string {
    return `${this.path}/${BEST}`;
  }

  epoch(epoch: number): string {
    return `${this.path}/${epochName(epoch)}`;
  }

  step(step: number): string {
    return `${this.path}/${stepName(step)}`;
  }

  /** Removes the checkpoints within epochs, but for the one of the given step. */
  async removeSteps(keep?: number): Promise<void> {
    for (const name of await this.names())
      if (isStep(name) && name !== stepName(keep ?? -1)) await removeFolder(`${this.path}/${name}`);
  }

  /** Clears up what a crash left. */
  private async mend(): Promise<void> {
    await mendFolder(this.best);
    for (const name of await this.names()) if (/\.(part|old)$/.test(name)) await removeFolder(`${this.path}/${name}`);
  }

  private async names(): Promise<string[]> {
    return (await listFolder(this.path)) ?? [];
  }
}

async function readJson(path: string, code: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return JSON.parse(text);
  } catch {
    throw new UserError(code, `${path}: damaged: not JSON.`);
  }
}

function checkSame(
  path: string,
  found: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, unknown>>,
): void {
  const keys = new Set([...Object.keys(found), ...Object.keys(wanted)]);
  const changed = [...keys].filter((key) => JSON.stringify(found[key]) !== JSON.stringify(wanted[key]));
  if (changed.length === 0) return;
  const changes = changed.map(
    (key) => `  ${key}: ${JSON.stringify(found[key])} then, ${JSON.stringify(wanted[key])} now`,
  );
  throw new UserError(
    "RUN_DIFFERS",
    `${path}: was begun with other settings, and would not be the same run any more:\n${changes.join("\n")}\n` +
      "Resume it with its own settings, or begin a new run in another folder.",
  );
}
