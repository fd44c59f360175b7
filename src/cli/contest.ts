// What the commands that play contests share: their options, and how these become a spec.
import { ELO_MODELS, type EloModel, sprtBounds } from "#arena";
import { messageOf, readText, UserError } from "#base";
import { playContestByJobs } from "#cluster";
import {
  type ContestEvent,
  type ContestInput,
  type ContestResult,
  type ContestSpec,
  type ContestState,
  type FaultCount,
  loadContestStatus,
  PgnStore,
  parseContest,
  runContest,
  StatusWriter,
  statusPath,
} from "#data";
import { refuseOther } from "#formats";
import { CLUSTER_OPTIONS, type ClusterPlace, onCluster } from "./cluster.js";
import type { Io } from "./command.js";
import { formatDuration } from "./progress.js";

/** When a game is ended before the rules end it; `parseRule` reads them. */
export const ADJUDICATION_OPTIONS = {
  resign: { help: "moves,centipawns: adjudicate a loss after N moves with a score at least that bad, e.g. 3,600" },
  draw: {
    help: "from,moves,centipawns: adjudicate a draw after N moves with scores that close to 0, from move FROM on, e.g. 40,8,10",
  },
  material: { help: "points,moves: adjudicate a win after N moves with that many points of extra material, e.g. 9,10" },
} as const;

// Defaults are those of the spec, so that an option that was given can be told from one that was not.
export const CONDITION_OPTIONS = {
  tc: { help: "time control: seconds+increment, e.g. 10+0.1, or moves/seconds, e.g. 40/60" },
  nodes: { type: "integer", minimum: 1, help: "nodes a move" },
  movetime: { type: "integer", minimum: 1, help: "milliseconds a move" },
  depth: { type: "integer", minimum: 1, help: "plies a move" },
  seed: { type: "integer", help: "seed for the order of openings and for players with randomness; 1 by default" },
  concurrency: {
    type: "integer",
    minimum: 1,
    help: "games at once; 1 by default; with --cluster as many as there are workers",
  },
  margin: { type: "integer", minimum: 0, help: "milliseconds by which a move may exceed the clock; 100 by default" },
  ...ADJUDICATION_OPTIONS,
  maxMoves: { type: "integer", minimum: 1, help: "adjudicate a draw after N moves" },
  resume: {
    type: "boolean",
    help: "play the games that are missing from the file; starts a new file if there is none",
  },
  ...CLUSTER_OPTIONS,
} as const;

export const CONTEST_OPTIONS = {
  spec: { help: "JSON file that describes the contest; options override it" },
  openings: { help: "opening book, EPD or PGN, plain or .zip .gz .zst .bz2; each is played with both colours" },
  plies: { type: "integer", minimum: 0, help: "plies taken from each game of a PGN book; all by default" },
  shuffle: { type: "boolean", help: "use the openings in random order (--seed)" },
  ...CONDITION_OPTIONS,
  pgn: { help: "file for the games; --resume continues from it" },
} as const;

export const SPRT_OPTIONS = {
  sprt: { help: "elo0,elo1: stop when it is clear whether A gains elo1 rather than elo0, as 0,5" },
  alpha: { type: "number", help: "probability of passing a change that gains only elo0; 0.05 by default" },
  beta: { type: "number", help: "probability of failing a change that gains elo1; 0.05 by default" },
  eloModel: { choices: ELO_MODELS, help: "what Elo means in --sprt; logistic by default" },
} as const;

export interface ConditionValues {
  tc: string | undefined;
  nodes: number | undefined;
  movetime: number | undefined;
  depth: number | undefined;
  seed: number | undefined;
  concurrency: number | undefined;
  margin: number | undefined;
  resign: string | undefined;
  draw: string | undefined;
  material: string | undefined;
  maxMoves: number | undefined;
}

export interface OpeningValues {
  openings: string | undefined;
  plies: number | undefined;
  shuffle: boolean;
}

export interface SprtValues {
  sprt: string | undefined;
  alpha: number | undefined;
  beta: number | undefined;
  eloModel: string | undefined;
}

type Part = Partial<ContestInput>;

/** Reads the numbers of an option such as `--resign 3,600`. */
export function parseRule(option: string, text: string, names: readonly string[], example: string): number[] {
  const numbers = text.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
  if (numbers.length !== names.length || numbers.some(Number.isNaN)) {
    throw new UserError("ADJUDICATION", `--${option} ${text}: expected ${names.join(",")}, as --${option} ${example}.`);
  }
  return numbers;
}

/** The part of a spec that says under what conditions games are played. */
export function conditionPart(values: ConditionValues): Part {
  const { tc, nodes, depth, movetime, seed, concurrency, margin, resign, draw, material, maxMoves } = values;
  const adjudication: Part["adjudication"] = { maxMoves };
  if (resign !== undefined) {
    const [moves, scoreCp] = parseRule("resign", resign, ["moves", "centipawns"], "3,600");
    adjudication.resign = { moves, scoreCp };
  }
  if (draw !== undefined) {
    const [from, moves, scoreCp] = parseRule("draw", draw, ["from", "moves", "centipawns"], "40,8,10");
    adjudication.draw = { from, moves, scoreCp };
  }
  if (material !== undefined) {
    const [points, moves] = parseRule("material", material, ["points", "moves"], "9,10");
    adjudication.material = { points, moves };
  }
  const limits = { nodes, depth, moveTimeMs: movetime };
  return { timeControl: tc, limits, seed, concurrency, marginMs: margin, adjudication };
}

export const openingPart = ({ openings, plies, shuffle }: OpeningValues): Part => ({
  openings: { file: openings, plies, shuffle: shuffle || undefined },
});

export function sprtPart({ sprt, alpha, beta, eloModel }: SprtValues): Part {
  const rest = { alpha, beta, model: eloModel as EloModel | undefined };
  if (sprt === undefined) {
    const given = Object.values(rest).some((value) => value !== undefined);
    return given ? { sprt: rest as Part["sprt"] } : {}; // the bounds are in the spec file
  }
  const [elo0, elo1, ...more] = sprt.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (!Number.isFinite(elo0) || !Number.isFinite(elo1) || more.length > 0 || elo0 >= elo1) {
    throw new UserError(
      "SPRT_BOUNDS",
      `--sprt ${sprt}: expected two numbers elo0,elo1 with elo0 below elo1.\n` +
        `--sprt 0,5 tests whether a change gains 5 Elo rather than none; --sprt -3,0 whether it loses nothing.`,
    );
  }
  return { sprt: { elo0, elo1, ...rest } };
}

/** Puts plain objects together, field by field; a later value stands, undefined does not count. */
function mergePlain(a: Record<string, unknown>, b: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...a };
  for (const [key, value] of Object.entries(b)) {
    if (value === undefined) continue;
    const both = [merged[key], value].every((each) => typeof each === "object" && each && !Array.isArray(each));
    merged[key] = both ? mergePlain(merged[key] as Record<string, unknown>, value as Record<string, unknown>) : value;
  }
  return merged;
}

/** Where a contest's spec may come from besides the options. */
interface SpecSource {
  spec: string | undefined; // a file
  pgn: string | undefined; // with `resume`, what stands beside it
  resume: boolean;
}

/** The spec that a file holds, or that the contest to be resumed was begun with; empty if there is neither. */
async function readSpec({ spec: file, pgn, resume }: SpecSource): Promise<object> {
  if (file !== undefined) {
    await refuseOther(file, ["json"], "a contest described in JSON");
    const text = await readText(file);
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new UserError("SPEC_SYNTAX", `${file}: not JSON: ${messageOf(error)}`);
    }
  }
  if (pgn === undefined || !resume) return {};
  const status = await loadContestStatus(statusPath(pgn)).catch((error: UserError) => {
    if (error.code !== "FILE_MISSING") throw error;
  });
  return status?.spec ?? {};
}

/**
 * The contest that a spec, if there is one, and the options describe together; of one of these kinds, the first by
 * default.
 */
export async function buildSpec(
  source: SpecSource,
  kinds: readonly ContestSpec["kind"][],
  ...parts: Part[]
): Promise<ContestSpec> {
  const { spec: file } = source;
  let spec: Record<string, unknown> = { kind: kinds[0], ...(await readSpec(source)) };
  for (const part of parts) spec = mergePlain(spec, part);
  if (spec.players === undefined) {
    const { pgn, resume } = source;
    if (file === undefined && pgn !== undefined && resume)
      throw new UserError(
        "SPEC_MISSING",
        `${pgn}: nothing says which contest its games belong to: ${statusPath(pgn)} is not there. Name the players again.`,
      );
    const who = kinds[0] === "match" ? "a match needs two players: tabiya match A B" : "name the players";
    throw new UserError("PLAYERS_FEW", `${who}, or give a file with --spec, or resume games with --pgn FILE --resume.`);
  }
  const parsed = parseContest(spec, file ?? "contest");
  if (kinds.includes(parsed.kind)) return parsed;
  throw new UserError(
    "SPEC_KIND",
    `${file ?? source.pgn}: this is a contest of the kind "${parsed.kind}"; expected ${kinds.join(" or ")}.`,
  );
}

/** What the command line can do about an error from below, where no flags are known. */
const ADVICE: Record<string, string> = {
  LIMIT_MISSING: "As options: --tc 10+0.1, --nodes 10000, --movetime 100 or --depth 8.",
  GAMES_EXIST: "Resume it with --resume.",
};

function advise(error: unknown): unknown {
  if (!(error instanceof UserError) || !Object.hasOwn(ADVICE, error.code)) return error;
  return new UserError(error.code, `${error.message}\n${ADVICE[error.code]}`, { cause: error });
}

/** Plays a contest with its progress on the terminal. `formatState` is a line about where it stands. */
export async function playWithProgress(
  spec: ContestSpec,
  { pgn, resume, cluster, store: files }: { pgn: string | undefined; resume: boolean } & ClusterPlace,
  io: Io,
  formatState: (state: ContestState) => string,
): Promise<ContestResult> {
  if (resume && pgn === undefined) {
    throw new UserError("RESUME_FILE", "--resume needs --pgn FILE: the file with the games played so far.");
  }
  let last: ContestState | undefined;
  const onEvent = (event: ContestEvent) => {
    switch (event.type) {
      case "start":
        last = event.state;
        if (event.saved > 0) io.note(`${pgn}: ${event.saved} games were played before.`);
        if (spec.sprt) io.print(formatTest(spec.sprt, event.names[0], event.total));
        break;
      case "note":
        io.note(event.text);
        break;
      case "fault":
        io.note(`game ${event.index + 1}: ${event.message}`);
        break;
      case "state": {
        last = event.state;
        const left = formatDuration(event.secondsLeft);
        io.progress(`${event.played}/${event.total} games: ${formatState(event.state)}, ${left} left`);
      }
    }
  };
  const store = pgn === undefined ? undefined : new PgnStore(pgn, { resume });
  const status = pgn === undefined ? undefined : new StatusWriter(pgn, spec, Date.now);
  try {
    const note = (event: ContestEvent) => {
      status?.note(event);
      onEvent(event);
    };
    const result = await onCluster({ cluster, store: files }, io, (transport) => {
      const play = transport && playContestByJobs(transport);
      return runContest(spec, { play, store, signal: io.signal, onEvent: note });
    });
    await status?.close("finished");
    return result;
  } catch (error) {
    await status?.close(io.signal.aborted ? "stopped" : "failed", io.signal.aborted ? "" : messageOf(error));
    if (io.signal.aborted && last) {
      const how =
        pgn === undefined
          ? "(Games are kept with --pgn FILE.)"
          : `Resume with: tabiya ${spec.kind === "match" ? "match" : "tournament"} --pgn ${pgn} --resume`;
      io.note(`interrupted: ${formatState(last)}\n${how}`);
    }
    throw advise(error);
  }
}

/** The two hypotheses of a test, in words. */
function formatTest(test: NonNullable<ContestSpec["sprt"]>, name: string, games: number): string {
  const { elo0, elo1, alpha, beta, model } = test;
  const { lower, upper } = sprtBounds(test);
  const percent = (share: number) => `${(100 * share).toFixed(share < 0.01 ? 1 : 0)} %`;
  return (
    `test (SPRT, ${model} Elo): H0: ${name} gains ${elo0} Elo, H1: it gains ${elo1} Elo\n` +
    `H1 is accepted at an LLR of ${upper.toFixed(2)} (wrong in ${percent(alpha)}), H0 at ${lower.toFixed(2)} (wrong in ${percent(beta)}); at most ${games} games`
  );
}

/** The faults in words, one line each. */
export const describeFaults = (faults: readonly FaultCount[]): string[] =>
  faults.map(({ player, kind, count }) => `${player} lost ${count === 1 ? "a game" : `${count} games`}: ${kind}`);
