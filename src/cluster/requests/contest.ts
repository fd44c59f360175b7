import { type ContestGame, type GameRecord, type Opening, parseTimeControl } from "#arena";
import { UserError, workInSlots } from "#base";
import { parseFen } from "#chess";
import type { ContestWork, PlayContest } from "#data";
import type { BookedGame, GamesJob, PlayedGame } from "../jobs/games.js";
import type { Transport } from "../transports/transport.js";
import { cut, gameSeconds } from "./cut.js";

/**
 * Games of a contest as jobs. They are counted in the order of their numbers, whichever ends first, so that a test stops
 * after the same game as it would with one game at a time here; games that were played beyond it are dropped.
 */
export const playContestByJobs =
  (transport: Transport): PlayContest =>
  async (work) => {
    const { players, spec, signal } = work;
    const named = await Promise.all(players.map((text) => transport.files.player(text)));
    const { kind: _kind, games: _games, rounds: _rounds, sprt: _sprt, concurrency: _concurrency, openings: _openings, ...rest } = spec; // biome-ignore format: a list
    const own: GamesJob["spec"] = { ...rest, kind: "tournament", players: named, concurrency: 1, openings: { shuffle: false } }; // biome-ignore format: a list
    const clock = spec.timeControl === undefined ? undefined : parseTimeControl(spec.timeControl).baseMs;
    const size = transport.itemsPerJob(gameSeconds(players, spec.limits, clock));
    const stop = new AbortController();
    const both = AbortSignal.any([signal, stop.signal]);
    const line = new Line(work, () => stop.abort(DECIDED));
    const jobs = numbered(cut(booked(work), size));
    try {
      await workInSlots(jobs, { slots: transport.slots(1), signal: both }, async ({ number, part }, one) => {
        const job: GamesJob = { kind: "games", spec: own, games: part };
        const lines = await transport.run(job, part.length, one);
        await line.add(number, part, lines.map((text) => check(JSON.parse(text) as PlayedGame))); // biome-ignore format: a list
      });
    } catch (error) {
      if (!stop.signal.aborted || signal.aborted) throw error;
    }
  };

const DECIDED = new Error("the contest is decided");

/** Games with their openings. */
function* booked({ games, opening }: ContestWork): Generator<BookedGame> {
  for (const { index, pair, round, white, black } of games) {
    const { fen, moves, chess960 } = opening(round);
    yield { index, pair, round, white, black, opening: { fen, moves: [...moves], chess960 } };
  }
}

function* numbered<T>(parts: Iterable<T>): Generator<{ number: number; part: T }> {
  let number = 0;
  for (const part of parts) yield { number: number++, part };
}

/** Results of jobs, handed on in the order in which the jobs were made. */
class Line {
  private readonly held = new Map<number, { games: BookedGame[]; played: PlayedGame[] }>();
  private next = 0;
  private handing: Promise<void> = Promise.resolve();
  private isDecided = false;

  constructor(
    private readonly work: ContestWork,
    private readonly onDecided: () => void,
  ) {}

  /** Takes the result of a job; resolves once all that could be handed on is. */
  add(number: number, games: BookedGame[], played: PlayedGame[]): Promise<void> {
    this.held.set(number, { games, played });
    this.handing = this.handing.then(() => this.handOn());
    return this.handing;
  }

  /** Tells of a game move by move, as if it were played now: whoever follows boards misses nothing. */
  private follow(game: ContestGame, opening: Opening, { startFen, chess960, moves }: GameRecord): void {
    const { onBegin, onMove } = this.work;
    onBegin?.(game, opening);
    if (!onMove) return;
    const position = parseFen(startFen, { chess960 });
    for (const [ply, played] of moves.entries()) {
      position.play(played.move);
      if (ply >= opening.moves.length) onMove(game, played, position);
    }
  }

  private async handOn(): Promise<void> {
    for (let found = this.held.get(this.next); found && !this.isDecided; found = this.held.get(this.next)) {
      this.held.delete(this.next++);
      const { games, played } = found;
      for (const [i, { opening, ...game }] of games.entries()) {
        const { index, record } = played[i];
        if (index !== game.index)
          throw new UserError("JOB_RESULT", `a job for game ${game.index} came back with ${index}.`);
        this.follow(game, opening, record);
        this.isDecided = (await this.work.onGame(game, record)) === "stop";
        if (this.isDecided) return this.onDecided();
      }
    }
  }
}

/** A game from elsewhere, whose moves must be legal. */
function check(played: PlayedGame): PlayedGame {
  const { startFen, chess960, moves } = played.record;
  const position = parseFen(startFen, { chess960 });
  for (const { move } of moves) {
    if (!position.moves().includes(move))
      throw new UserError("JOB_RESULT", `a job came back with game ${played.index}, whose moves are not legal.`);
    position.play(move);
  }
  return played;
}
