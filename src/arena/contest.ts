import { messageOf } from "#base";
import type { Position } from "#chess";
import { type Player, PlayerFault } from "#engine";
import { type Conditions, type GameRecord, type PlayedMove, playGame } from "./game.js";
import type { Opening } from "./openings.js";
import type { ContestGame } from "./pairing.js";

/** What is to be played: games, who plays them, from which openings, under which conditions. */
export interface Contest {
  games: Iterable<ContestGame>; // those to be played, begun in this order
  create(player: number): Promise<Player>;
  opening(round: number): Opening;
  conditions: Conditions;
  concurrency: number; // games at once
  seed: number;
  signal: AbortSignal;
  /** Told of every finished game, one at a time; if it resolves to "stop", the games still running are dropped. */
  onGame(game: ContestGame, record: GameRecord): Promise<"stop" | undefined>;
  /** Told when the players of a game are ready. */
  onBegin?(game: ContestGame, opening: Opening): void;
  /** Told of every move of a player, with the position it led to (to be read at once, not kept). */
  onMove?(game: ContestGame, played: PlayedMove, position: Position): void;
}

const STARTS = 3; // failed starts of one engine in a row, after which there is no point in going on

/** Players waiting for their next game. As many stay alive as can be needed at once. */
class Pool {
  private idle: { player: number; instance: Player }[] = [];
  private readonly seen = new Set<number>();
  private readonly failures = new Map<number, number>();

  constructor(
    private readonly create: (player: number) => Promise<Player>,
    private readonly size: number,
  ) {}

  async acquire(player: number): Promise<Player> {
    const found = this.idle.findIndex((each) => each.player === player);
    if (found >= 0) return this.idle.splice(found, 1)[0].instance;
    try {
      const instance = await this.create(player);
      this.seen.add(player);
      this.failures.delete(player);
      return instance;
    } catch (error) {
      const failures = (this.failures.get(player) ?? 0) + 1;
      this.failures.set(player, failures);
      // What never started is the user's mistake; what started before is the engine's.
      if (!this.seen.has(player) || failures >= STARTS) throw error;
      throw new PlayerFault("crash", messageOf(error));
    }
  }

  async release(player: number, instance: Player): Promise<void> {
    this.idle.push({ player, instance });
    while (this.idle.length > this.size) await this.idle.shift()?.instance.close();
  }

  async close(): Promise<void> {
    await Promise.all(this.idle.splice(0).map(({ instance }) => instance.close()));
  }
}

/** Plays all games; no process is left behind, however it ends. */
export async function playContest(contest: Contest): Promise<void> {
  const { games, conditions, concurrency, seed, signal, onGame } = contest;
  const stop = new AbortController();
  const relay = () => stop.abort(signal.reason);
  if (signal.aborted) relay();
  signal.addEventListener("abort", relay, { once: true });
  const pool = new Pool(contest.create, 2 * concurrency);
  const waiting = games[Symbol.iterator]();
  let reported = Promise.resolve<unknown>(undefined);

  const playOne = async (game: ContestGame) => {
    const players: Partial<Record<"white" | "black", Player>> = {};
    let healthy = false;
    let record: GameRecord | undefined;
    try {
      const opening = contest.opening(game.round);
      for (const color of ["white", "black"] as const) {
        try {
          players[color] = await pool.acquire(game[color]);
        } catch (error) {
          if (!(error instanceof PlayerFault)) throw error;
          record = forfeit(opening, color, error);
        }
      }
      if (!record) {
        contest.onBegin?.(game, opening);
        record = await playGame(players as Record<"white" | "black", Player>, opening, conditions, {
          seed: (Math.imul(seed, 0x9e3779b1) + game.index) | 0,
          signal: stop.signal,
          onMove: contest.onMove && ((played, position) => contest.onMove?.(game, played, position)),
        });
      }
      healthy = record.fault === undefined;
    } finally {
      for (const color of ["white", "black"] as const) {
        const player = players[color];
        if (healthy && player) await pool.release(game[color], player);
        else await player?.close();
      }
    }
    const finished = record;
    const report = reported.then(() => (stop.signal.reason === STOPPED ? undefined : onGame(game, finished)));
    reported = report.catch(() => {});
    if ((await report) === "stop") stop.abort(STOPPED);
  };

  const slot = async () => {
    for (let next = waiting.next(); !next.done && !stop.signal.aborted; next = waiting.next())
      await playOne(next.value);
  };
  const slots = Array.from({ length: concurrency }, () =>
    slot().catch((error: unknown) => {
      stop.abort(error); // the others stop too
      if (error !== STOPPED) throw error;
    }),
  );
  const ends = await Promise.allSettled(slots);
  await pool.close();
  signal.removeEventListener("abort", relay);
  if (signal.aborted) throw signal.reason;
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

const STOPPED = new Error("the contest is decided");

/** The record of a game that a player lost by not even starting. */
function forfeit({ fen, chess960 }: Opening, color: "white" | "black", { kind, message }: PlayerFault): GameRecord {
  return {
    startFen: fen,
    chess960,
    moves: [],
    winner: color === "white" ? "black" : "white",
    reason: `${color}: ${kind}`,
    ending: "fault",
    fault: { color, kind, message },
  };
}

/** Names to show: as written, with a number behind those that occur twice. */
export function distinctNames(names: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return names.map((name) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} (${count})`;
  });
}
