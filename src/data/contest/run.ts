import {
  builtInBook,
  type Conditions,
  type Contest,
  type ContestGame,
  distinctNames,
  GameCount,
  type GameRecord,
  type LlrPoint,
  Match,
  type OpeningBook,
  parseTimeControl,
  playContest,
  resultOf,
  type Standings,
  shuffleBook,
  Tournament,
} from "#arena";
import { processors, UserError } from "#base";
import { formatFen, formatUci, parseFen } from "#chess";
import { FAULTS, type FaultKind, parsePlayer, resolvePlayer } from "#engine";
import { loadBook } from "../book.js";
import { randomOpenings } from "../random-openings.js";
import type { ContestEvent, ContestState, FaultCount } from "./events.js";
import { type GameStore, MemoryStore, type SavedGame } from "./game-store.js";
import { pointsOf } from "./pgn-text.js";
import { type ContestInput, type ContestSpec, describeSettings, parseContest } from "./spec.js";

/** Games of a contest that are to be played by these players, which the numbers of each game mean. */
export interface ContestWork extends Omit<Contest, "create" | "conditions" | "concurrency"> {
  players: readonly string[];
  spec: ContestSpec; // the conditions
}

/** Plays games of a contest; who does it, and where, is its own affair. */
export type PlayContest = (work: ContestWork) => Promise<void>;

/** Who plays a contest, where its games are kept, and who is told. */
export interface ContestOptions {
  play?: PlayContest; // who plays; this program by default
  store?: GameStore; // keeps the games, and tells which were played before; memory by default
  signal?: AbortSignal; // stops the contest, which then rejects; finished games are in the store
  onEvent?(event: ContestEvent): void;
}

/** How a contest ended. */
export type ContestResult = ContestState & {
  names: string[]; // of the players, in the order of the spec
  llrPath?: readonly LlrPoint[]; // of a test
  faults: FaultCount[]; // of all games, those played before included
  seconds: number; // that this run took
};

const EVENTS = {
  match: "Tabiya match",
  tournament: "Tabiya tournament",
  gauntlet: "Tabiya gauntlet",
  games: "Tabiya games",
} as const satisfies Record<ContestSpec["kind"], string>;

/** Plays the games of a contest that its store does not hold yet. The same spec and store give the same result. */
export async function runContest(input: ContestInput, options: ContestOptions = {}): Promise<ContestResult> {
  const spec = parseContest(input);
  const { play = playHere, store = new MemoryStore(), onEvent = () => {} } = options;
  const { signal = new AbortController().signal } = options;
  const players = spec.players.length === 1 ? [spec.players[0], spec.players[0]] : spec.players;
  const names = distinctNames(players);
  conditionsOf(spec); // refused before anything is opened
  const standings = standingsOf(spec, names);
  const { total } = standings;
  const book = await openBook(spec, standings.rounds, onEvent);
  if (spec.timeControl !== undefined && spec.concurrency > processors()) {
    const text = `${spec.concurrency} games at once on ${processors()} processors: clocks will run unfairly.`;
    onEvent({ type: "note", text });
  }

  const { saved, note } = await store.open(describeSettings(spec));
  try {
    if (note !== undefined) onEvent({ type: "note", text: note });
    const faults = new FaultList();
    const known = countSaved(saved, standings, names, faults);
    const before = known.size;
    onEvent({ type: "start", spec, names, total, saved: before, state: standings.state() });
    const start = performance.now();
    const seconds = () => (performance.now() - start) / 1000;
    const label = ({ index, round, white, black }: ContestGame) => ({
      index,
      round,
      white: names[white],
      black: names[black],
    });
    let done = 0;
    await play({
      players,
      spec: { ...spec, concurrency: Math.min(spec.concurrency, Math.max(1, total - before)) },
      games: standings.decided ? [] : gamesLeft(standings, known),
      opening: (round) => book.at(round % book.length),
      seed: spec.seed,
      signal,
      onBegin(game, { fen, chess960, moves }) {
        const position = parseFen(fen, { chess960 });
        const words = moves.map((move) => formatUci(position, move));
        onEvent({ type: "begin", ...label(game), fen, chess960, moves: words });
      },
      onMove({ index }, { move, thought, clockMs }, position) {
        const [ply, fen] = [position.history.length, formatFen(position)];
        onEvent({ type: "move", index, ply, move: formatUci(position, move), fen, report: thought, clockMs });
      },
      async onGame(game, played) {
        const labelled = label(game);
        const record = isTimed(spec) ? played : withoutTimes(played);
        await store.append({ ...labelled, event: EVENTS[spec.kind], timeControl: spec.timeControl, record });
        if (record.fault) {
          const { color, kind, message } = record.fault;
          faults.add(labelled[color], kind);
          onEvent({ type: "fault", index: game.index, player: labelled[color], kind, message });
        }
        const result = resultOf(record);
        standings.add(game, pointsOf(result));
        done++;
        onEvent({ type: "game", ...labelled, result, reason: record.reason, plies: record.moves.length });
        const secondsLeft = (seconds() / done) * (total - before - done);
        const state = standings.state();
        onEvent({ type: "state", played: before + done, total, secondsLeft, state });
        return standings.decided ? "stop" : undefined;
      },
    });
    const llrPath = standings instanceof Match && spec.sprt ? standings.llrPath : undefined;
    return { ...standings.state(), names, llrPath, faults: faults.list, seconds: seconds() };
  } finally {
    await store.close();
  }
}

/** Plays games here, so many at once as the spec says. */
export const playHere: PlayContest = ({ players, spec, ...work }) =>
  playContest({
    ...work,
    create: (player) => resolvePlayer(players[player]),
    conditions: conditionsOf(spec),
    concurrency: spec.concurrency,
  });

/** Whether the time that moves take decides games. */
export const isTimed = ({ timeControl, limits }: Pick<ContestSpec, "timeControl" | "limits">): boolean =>
  timeControl !== undefined || limits.moveTimeMs !== undefined;

/** A game as it would be on any machine: the same contest gives the same file. */
export const withoutTimes = (record: GameRecord): GameRecord => ({
  ...record,
  moves: record.moves.map(({ thought, ...rest }) => (thought ? { ...rest, thought: { ...thought, timeMs: 0 } } : rest)),
});

function standingsOf(
  { kind, games, rounds = 5, players, sprt }: ContestSpec,
  names: string[],
): Standings<ContestState> {
  if (kind === "match") return new Match(games, sprt);
  if (kind === "games") return new GameCount(games ?? 100, { alone: players.length === 1 });
  return new Tournament(names, { rounds, againstFirst: kind === "gauntlet" });
}

function conditionsOf({ players, timeControl, limits, marginMs, adjudication }: ContestSpec): Conditions {
  const limited = timeControl !== undefined || Object.values(limits).some((limit) => limit !== undefined);
  const unlimited = players.find(needsLimit);
  if (!limited && unlimited !== undefined) {
    throw new UserError(
      "LIMIT_MISSING",
      `how long may ${unlimited} think? Give a time control, as 10+0.1, or a limit for each move: nodes, milliseconds or depth.`,
    );
  }
  return {
    limits,
    timeControl: timeControl === undefined ? undefined : parseTimeControl(timeControl),
    marginMs,
    adjudication,
  };
}

/** Whether a player would think until it is told to stop. */
function needsLimit(text: string): boolean {
  const player = parsePlayer(text);
  if (player.kind === "uci") return true;
  const { search, nodes, network } = player;
  const usual = /^(nnue|builtin)$|\.(nnue|jnn|tnn)$/i.test(network) ? "ab" : undefined;
  return nodes === undefined && (search ?? usual) === "ab";
}

async function openBook(
  { openings, seed }: ContestSpec,
  rounds: number,
  onEvent: (event: ContestEvent) => void,
): Promise<OpeningBook> {
  const { file, plies, randomPlies, shuffle } = openings;
  if (randomPlies !== undefined) return randomOpenings(rounds, randomPlies, seed);
  const whole = file === undefined ? builtInBook() : await loadBook(file, plies);
  if (rounds > whole.length) {
    const text =
      `${rounds} openings are needed and ${file ?? "the built-in book"} has ${whole.length}: they are used again. ` +
      "Players that do not vary will repeat their games, and the error bars will be too narrow.";
    onEvent({ type: "note", text });
  }
  return shuffle ? shuffleBook(whole, seed) : whole;
}

class FaultList {
  readonly list: FaultCount[] = [];

  add(player: string, kind: FaultKind): void {
    const known = this.list.find((each) => each.player === player && each.kind === kind);
    if (known) known.count++;
    else this.list.push({ player, kind, count: 1 });
  }
}

/** Counts the games of the store, in the order in which they ended; returns which they are. */
function countSaved(
  saved: readonly SavedGame[],
  standings: Standings<ContestState>,
  names: readonly string[],
  faults: FaultList,
): Set<number> {
  const known = new Set<number>();
  for (const { index, result, reason } of saved) {
    if (index >= standings.total) continue; // of a contest that was to be longer
    known.add(index);
    const game = standings.game(index);
    standings.add(game, pointsOf(result));
    const [color, kind] = reason.split(": ");
    if (FAULTS.includes(kind as FaultKind)) faults.add(names[game[color as "white" | "black"]], kind as FaultKind);
  }
  return known;
}

function* gamesLeft(standings: Standings<ContestState>, known: ReadonlySet<number>): Generator<ContestGame> {
  for (let index = 0; index < standings.total; index++) if (!known.has(index)) yield standings.game(index);
}
