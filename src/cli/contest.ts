// What the commands `match` and `tournament` share: options, the book, the file, and playing on from where it stopped.
import { availableParallelism } from "node:os";
import { basename } from "node:path";
import {
  type Adjudication,
  builtInBook,
  type Conditions,
  type ContestGame,
  formatRecord,
  formatTimeControl,
  type GameRecord,
  type OpeningBook,
  parseRule,
  parseTimeControl,
  playContest,
  resultOf,
  shuffleBook,
} from "#arena";
import { UserError } from "#base";
import { FAULTS, type FaultKind, parsePlayer, resolvePlayer } from "#engine";
import { loadBook } from "./book.js";
import type { Io } from "./command.js";
import { GameFile } from "./game-file.js";

export const CONTEST_OPTIONS = {
  tc: { help: "time control: seconds+increment, as 10+0.1, or moves/seconds, as 40/60" },
  nodes: { type: "integer", minimum: 1, help: "nodes a move" },
  movetime: { type: "integer", minimum: 1, help: "milliseconds a move" },
  depth: { type: "integer", minimum: 1, help: "plies a move" },
  openings: { help: "book of openings, EPD or PGN, plain or .zip .gz .zst .bz2; each is played with both colours" },
  plies: { type: "integer", minimum: 0, help: "moves (half) taken from each game of a PGN book; all if not said" },
  shuffle: { type: "boolean", help: "take the openings in an order drawn with --seed" },
  seed: { type: "integer", default: 1, help: "of the order of openings and of players that use chance" },
  concurrency: { type: "integer", minimum: 1, default: 1, help: "games at once" },
  margin: { type: "integer", minimum: 0, default: 100, help: "milliseconds a move may come too late unpunished" },
  resign: { help: "moves,centipawns: a player so far behind for so many moves has lost, as 3,600" },
  draw: { help: "from,moves,centipawns: drawn if both see so little for so long, as 40,8,10" },
  material: { help: "points,moves: won by whom is so far ahead in material for so long, as 9,10" },
  maxMoves: { type: "integer", minimum: 1, help: "the game is drawn after so many moves" },
  pgn: { help: "file for the games; also the memory from which --resume goes on" },
  resume: { type: "boolean", help: "go on with the games in --pgn; starts anew if there are none" },
} as const;

export interface ContestValues {
  tc: string | undefined;
  nodes: number | undefined;
  movetime: number | undefined;
  depth: number | undefined;
  openings: string | undefined;
  plies: number | undefined;
  shuffle: boolean;
  seed: number;
  concurrency: number;
  margin: number;
  resign: string | undefined;
  draw: string | undefined;
  material: string | undefined;
  maxMoves: number | undefined;
  pgn: string | undefined;
  resume: boolean;
}

function readAdjudication({ resign, draw, material, maxMoves }: ContestValues): Adjudication {
  const rules: Adjudication = { maxMoves };
  if (resign !== undefined) {
    const [moves, scoreCp] = parseRule("resign", resign, ["moves", "centipawns"], "3,600");
    rules.resign = { moves, scoreCp };
  }
  if (draw !== undefined) {
    const [from, moves, scoreCp] = parseRule("draw", draw, ["from", "moves", "centipawns"], "40,8,10");
    rules.draw = { from, moves, scoreCp };
  }
  if (material !== undefined) {
    const [points, moves] = parseRule("material", material, ["points", "moves"], "9,10");
    rules.material = { points, moves };
  }
  return rules;
}

function readConditions(values: ContestValues, players: readonly string[]): Conditions {
  const { tc, nodes, movetime, depth, margin } = values;
  const limited = tc !== undefined || nodes !== undefined || movetime !== undefined || depth !== undefined;
  const unlimited = players.find((player) => parsePlayer(player).kind === "uci");
  if (!limited && unlimited !== undefined) {
    throw new UserError(
      "LIMIT_MISSING",
      `how long may ${unlimited} think? Give --tc 10+0.1, --movetime 100, --nodes 10000 or --depth 8.`,
    );
  }
  return {
    limits: { nodes, depth, moveTimeMs: movetime },
    timeControl: tc === undefined ? undefined : parseTimeControl(tc),
    marginMs: margin,
    adjudication: readAdjudication(values),
  };
}

/** Everything that must be the same for games to belong to one contest. */
function describeSettings(values: ContestValues, players: readonly string[], more: string[]): string {
  const { openings, shuffle, pgn: _pgn, resume: _resume, concurrency: _concurrency, ...rest } = values;
  const known = Object.keys(CONTEST_OPTIONS).filter((key) => Object.hasOwn(rest, key)) as (keyof typeof rest)[];
  return [
    `players=${players.join(" ")}`,
    ...known.filter((key) => rest[key] !== undefined).map((key) => `${key}=${rest[key]}`),
    `openings=${openings === undefined ? "built in" : basename(openings)}${shuffle ? " shuffled" : ""}`,
    ...more,
  ]
    .map((part) => part.replace(/; /g, ";"))
    .join("; ");
}

/** A counted game: as it was played, or as it was found in the file. */
export interface Counted {
  game: ContestGame;
  points: number; // White's
}

export interface FaultCount {
  player: string;
  kind: FaultKind;
  count: number;
}

export interface ContestRun {
  event: string;
  players: readonly string[]; // as the user wrote them
  names: readonly string[]; // each a different one
  games: readonly ContestGame[]; // all, played or not
  book?: OpeningBook; // instead of the one the options name
  settings?: string[]; // further settings that the file must agree with
  /** Told of every game, first of the saved ones; "stop" ends the contest. */
  onGame(counted: Counted): "stop" | undefined;
  /** A line about the present state. */
  state(): string;
}

/** Plays the games that are not yet in the file; returns the faults of all, and how long it took. */
export async function runContest(
  run: ContestRun,
  values: ContestValues,
  io: Io,
): Promise<{ faults: FaultCount[]; seconds: number }> {
  const { names, players, games } = run;
  const conditions = readConditions(values, players);
  if (values.resume && values.pgn === undefined) {
    throw new UserError("RESUME_FILE", "--resume needs --pgn FILE: the file with the games played so far.");
  }
  const book = run.book ?? (await openBook(values, games, io));
  if (values.tc !== undefined && values.concurrency > availableParallelism()) {
    io.note(`${values.concurrency} games at once on ${availableParallelism()} processors: clocks will run unfairly.`);
  }
  const settings = describeSettings(values, players, run.settings ?? []);
  const file = values.pgn === undefined ? undefined : await GameFile.open(values.pgn, settings, values.resume);
  const faults = new FaultList();
  try {
    if (file?.mended) io.note(`${file.path}: the last game was cut off; it is played again.`);
    const left = countSaved(run, file, faults, io);
    if (left === undefined) return { faults: faults.list, seconds: 0 };

    const start = performance.now();
    let done = 0;
    const report = () => {
      const each = (performance.now() - start) / 1000 / done;
      const eta = formatDuration(each * (left.length - done));
      io.progress(`${games.length - left.length + done}/${games.length} games: ${run.state()}, ${eta} left`);
    };
    await playContest({
      games: left,
      create: (player) => resolvePlayer(players[player]),
      opening: (round) => book.at(round % book.length),
      conditions,
      concurrency: Math.min(values.concurrency, Math.max(1, left.length)),
      seed: values.seed,
      signal: io.signal,
      async onGame(game, record) {
        await file?.append(formatContestGame(run, game, record, values, settings));
        if (record.fault) {
          faults.add(names[game[record.fault.color]], record.fault.kind);
          io.note(`game ${game.index + 1}: ${record.fault.message}`);
        }
        done++;
        const verdict = run.onGame({ game, points: pointsOf(resultOf(record)) });
        report();
        return verdict;
      },
    }).catch((error: unknown) => {
      if (io.signal.aborted) {
        io.note(
          `interrupted: ${run.state()}${file ? `\nGo on with the same command and --resume.` : "\n(Games are kept with --pgn FILE.)"}`,
        );
      }
      throw error;
    });
    return { faults: faults.list, seconds: (performance.now() - start) / 1000 };
  } finally {
    await file?.close();
  }
}

class FaultList {
  readonly list: FaultCount[] = [];

  add(player: string, kind: FaultKind): void {
    const known = this.list.find((each) => each.player === player && each.kind === kind);
    if (known) known.count++;
    else this.list.push({ player, kind, count: 1 });
  }
}

/** Counts the games in the file; returns those still to be played, or undefined if the saved ones decide the contest. */
function countSaved(run: ContestRun, file: GameFile | undefined, faults: FaultList, io: Io): ContestGame[] | undefined {
  const saved = new Map((file?.saved ?? []).map((game) => [game.index, game]));
  if (saved.size > 0) io.note(`${file?.path}: ${saved.size} games were played before.`);
  let verdict: "stop" | undefined;
  for (const game of run.games) {
    const found = saved.get(game.index);
    if (!found) continue;
    const [color, kind] = found.reason.split(": ");
    if (FAULTS.includes(kind as FaultKind)) faults.add(run.names[game[color as "white" | "black"]], kind as FaultKind);
    verdict = run.onGame({ game, points: pointsOf(found.result) }) ?? verdict;
  }
  return verdict === "stop" ? undefined : run.games.filter(({ index }) => !saved.has(index));
}

const pointsOf = (result: string): number => (result === "1-0" ? 1 : result === "0-1" ? 0 : 0.5);

async function openBook(values: ContestValues, games: readonly ContestGame[], io: Io): Promise<OpeningBook> {
  const whole = values.openings === undefined ? builtInBook() : await loadBook(values.openings, values.plies);
  const book = values.shuffle ? shuffleBook(whole, values.seed) : whole;
  const rounds = games.reduce((most, { round }) => Math.max(most, round + 1), 0);
  if (rounds > book.length) {
    io.note(
      `${rounds} openings are needed and ${values.openings ?? "the built-in book"} has ${book.length}: they are used again. ` +
        "Players that do not vary will repeat their games, and the error bars will be too narrow.",
    );
  }
  return book;
}

function formatContestGame(
  { event, names }: ContestRun,
  game: ContestGame,
  record: GameRecord,
  { tc }: ContestValues,
  settings: string,
): string {
  const control = tc === undefined ? "-" : formatTimeControl(parseTimeControl(tc));
  return formatRecord(
    record,
    [
      ["Event", event],
      ["Site", "?"],
      ["Date", new Date().toISOString().slice(0, 10).replaceAll("-", ".")],
      ["Round", `${game.round + 1}.${(game.index % 2) + 1}`],
      ["White", names[game.white]],
      ["Black", names[game.black]],
    ],
    [
      ["TimeControl", control],
      ["GameIndex", String(game.index)],
      ["Settings", settings],
    ],
  );
}

export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds);
  const pad = (value: number) => String(value).padStart(2, "0");
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`;
}

/** The faults in words, one line each. */
export const describeFaults = (faults: readonly FaultCount[]): string[] =>
  faults.map(({ player, kind, count }) => `${player} lost ${count === 1 ? "a game" : `${count} games`}: ${kind}`);
