// What a contest is and where it stands, in a small file beside its games: NAME.contest.json next to NAME.pgn. From it a
// contest is resumed without repeating its settings, and watched from another process.
import * as z from "zod";
import { isProcessAlive, processKey, readText, UserError, writeFile } from "#base";
import type { ContestEvent, ContestState, GameLabel } from "./events.js";
import { type ContestSpec, parseContest } from "./spec.js";

export const CONTEST_PHASES = ["running", "stopped", "finished", "failed"] as const;
/** Whether a contest is being played, was stopped, has ended or failed. */
export type ContestPhase = (typeof CONTEST_PHASES)[number];

/** A game that is being played. */
export interface LiveGame extends GameLabel {
  fen: string; // where it began
  chess960: boolean;
  moves: string[]; // in UCI, the opening's included
  now: string; // the position, as a FEN
  clocksMs: { white?: number; black?: number };
  whiteCp: number | null; // what the last player to move thought, in White's view
}

/** What is known of a contest, kept beside its games. */
export interface ContestStatus {
  spec: ContestSpec;
  phase: ContestPhase;
  message: string; // why it failed; else empty
  process: string; // key of the one that plays it, or played it last
  updatedMs: number; // since 1970
  names: string[];
  played: number;
  total: number;
  secondsLeft: number | null;
  state: ContestState | null; // null before the first start
  notes: string[]; // warnings, in words
  live: LiveGame[];
}

/** How the name of a status file ends. */
export const STATUS_SUFFIX = ".contest.json";
const EVERY_MS = 400; // between two writes at least
const NOTES = 20; // kept, the latest

/** The status file that belongs to a file of games. */
export const statusPath = (pgn: string): string => pgn.replace(/\.pgn$/i, "") + STATUS_SUFFIX;

const SCHEMA = z.object({
  spec: z.unknown(),
  phase: z.enum(CONTEST_PHASES),
  message: z.string(),
  process: z.string(),
  updatedMs: z.number(),
  names: z.array(z.string()),
  played: z.int().min(0),
  total: z.int().min(0),
  secondsLeft: z.number().nullable(),
  state: z.custom<ContestState>((value) => typeof value === "object" && value !== null && "kind" in value).nullable(),
  notes: z.array(z.string()),
  live: z.array(z.custom<LiveGame>((value) => typeof value === "object" && value !== null && "now" in value)),
});

/** Reads a status file; one that is missing has the code FILE_MISSING. A contest whose process died has been stopped. */
export async function loadContestStatus(path: string): Promise<ContestStatus> {
  const text = await readText(path);
  try {
    const found = SCHEMA.parse(JSON.parse(text));
    const status = { ...found, spec: parseContest(found.spec, path) };
    if (found.phase !== "running" || isProcessAlive(found.process)) return status;
    return { ...status, phase: "stopped", live: [], secondsLeft: null };
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError("CONTEST_STATUS", `${path}: this does not describe a contest. Remove it, or restore it.`);
  }
}

/** A contest that nobody has played yet. */
export const newStatus = (spec: ContestSpec, nowMs: number): ContestStatus => ({
  spec,
  phase: "stopped",
  message: "",
  process: "",
  updatedMs: nowMs,
  names: [...spec.players],
  played: 0,
  total: 0,
  secondsLeft: null,
  state: null,
  notes: [],
  live: [],
});

/** Writes a status file, all or nothing. */
export const saveContestStatus = (path: string, status: ContestStatus): Promise<void> =>
  writeFile(path, `${JSON.stringify(status)}\n`);

/** Keeps the status file of a contest while it is played; what stands there is left alone until the contest has started. */
export class StatusWriter {
  private readonly path: string;
  private readonly status: ContestStatus;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private writing: Promise<void> = Promise.resolve();
  private wroteMs = 0;
  private phase: "waiting" | "open" | "closed" = "waiting";

  constructor(
    pgn: string,
    spec: ContestSpec,
    private readonly now: () => number, // milliseconds since 1970
  ) {
    this.path = statusPath(pgn);
    this.status = { ...newStatus(spec, now()), phase: "running", process: processKey() };
  }

  /** Takes an event of the contest; the file follows within half a second. */
  note(event: ContestEvent): void {
    const { status } = this;
    switch (event.type) {
      case "start":
        this.phase = "open";
        Object.assign(status, { names: event.names, total: event.total, played: event.saved, state: event.state });
        break;
      case "note":
        status.notes = [...status.notes, event.text].slice(-NOTES);
        break;
      case "fault":
        status.notes = [...status.notes, `game ${event.index + 1}: ${event.message}`].slice(-NOTES);
        break;
      case "begin": {
        const { type: _, ...game } = event;
        status.live.push({ ...game, moves: [...game.moves], now: game.fen, clocksMs: {}, whiteCp: null });
        break;
      }
      case "move": {
        const game = status.live.find(({ index }) => index === event.index);
        if (!game) break;
        const mover = event.fen.split(" ")[1] === "b" ? "white" : "black"; // the FEN says who is next
        game.moves.push(event.move);
        game.now = event.fen;
        game.clocksMs[mover] = event.clockMs;
        const score = event.report?.lines[0]?.scoreCp;
        game.whiteCp = score === undefined ? null : mover === "white" ? score : -score;
        break;
      }
      case "game":
        status.live = status.live.filter(({ index }) => index !== event.index);
        break;
      case "state":
        Object.assign(status, { played: event.played, total: event.total, state: event.state });
        status.secondsLeft = event.secondsLeft;
    }
    this.schedule(Math.max(0, this.wroteMs + EVERY_MS - this.now()));
  }

  /** Writes how it ended. A contest that could not start is told to a file that waits for it, as one resumed has. */
  async close(phase: Exclude<ContestPhase, "running">, message = ""): Promise<void> {
    const started = this.phase === "open";
    this.phase = "closed";
    clearTimeout(this.timer);
    await this.writing;
    if (started) Object.assign(this.status, { phase, message, live: [], secondsLeft: null });
    else {
      const found = await loadContestStatus(this.path).catch(() => undefined);
      if (!found || found.phase === "finished") return;
      Object.assign(this.status, { ...found, phase, message });
    }
    await this.write();
  }

  private schedule(delayMs: number): void {
    if (this.phase !== "open") return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      // A status that cannot be written (a full disk) must not end the contest: its games are what counts.
      this.writing = this.writing.then(() => this.write()).catch(() => {});
    }, delayMs);
  }

  private async write(): Promise<void> {
    this.wroteMs = this.status.updatedMs = this.now();
    await saveContestStatus(this.path, this.status);
  }
}
