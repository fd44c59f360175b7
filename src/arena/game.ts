import { type Color, formatFen, type Move, type Position, parseFen } from "#chess";
import { type Choice, type FaultKind, type Player, PlayerFault, type Report } from "#engine";
import type { Limits } from "#search";
import { type Adjudication, Adjudicator } from "./adjudication.js";
import type { Opening } from "./openings.js";
import { ChessClock, type TimeControl } from "./time-control.js";

/** Under what conditions both sides play. */
export interface Conditions {
  limits: Limits; // per move, besides the clock
  timeControl?: TimeControl;
  /** How much later than its time a move may come, for what the machine itself loses between two processes. */
  marginMs: number;
  adjudication: Adjudication;
}

/** A move and what its player thought; moves of the opening have no thought. */
export interface PlayedMove {
  move: Move;
  thought?: Report;
  clockMs?: number; // left after the move
}

/** Why a game was lost by a player who broke the rules, crashed or ran out of time. */
export interface GameFault {
  color: Color; // who is to blame
  kind: FaultKind;
  message: string;
}

/** A finished game. */
export interface GameRecord {
  startFen: string;
  chess960: boolean;
  moves: PlayedMove[];
  winner: Color | undefined; // undefined is a draw
  /** In words: "checkmate", "white resigned", "black: illegal move". */
  reason: string;
  ending: "rules" | "adjudication" | "fault";
  fault?: GameFault;
}

export interface GameOptions {
  seed: number;
  signal: AbortSignal;
  /** Told of every move that a player made, with the position it led to (to be read at once, not kept). */
  onMove?: (played: PlayedMove, position: Position) => void;
}

/** Plays one game from an opening. Rejects only when aborted, or for what no player is to blame for. */
export async function playGame(
  players: Record<Color, Player>,
  opening: Opening,
  conditions: Conditions,
  { seed, signal, onMove }: GameOptions,
): Promise<GameRecord> {
  const position = parseFen(opening.fen, { chess960: opening.chess960 });
  const record: GameRecord = {
    startFen: formatFen(position),
    chess960: opening.chess960,
    moves: [],
    winner: undefined,
    reason: "",
    ending: "rules",
  };
  for (const move of opening.moves) {
    position.play(move);
    record.moves.push({ move });
  }

  // What can end a game while somebody else is thinking: we are told to stop, or the other side breaks down.
  let blamed: Color | undefined;
  let interrupt: (reason: unknown) => void = () => {};
  const interrupted = new Promise<never>((_, reject) => {
    interrupt = reject;
  });
  interrupted.catch(() => {}); // it may come between two moves
  const onAbort = () => interrupt(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  for (const color of ["white", "black"] as const) {
    players[color].onFault = (fault) => {
      blamed ??= color;
      interrupt(fault);
    };
  }

  let mover: Color = position.turn;
  try {
    signal.throwIfAborted();
    for (mover of ["white", "black"] as const) {
      const own = Math.imul(seed, 2) + (mover === "white" ? 0 : 1); // else two random players would draw alike
      await Promise.race([players[mover].newGame({ seed: own }), interrupted]);
    }
    const choose = (color: Color, limits: Limits) => {
      mover = color;
      return Promise.race([players[color].choose(position, limits), interrupted]);
    };
    await playMoves(position, record, conditions, choose, onMove);
  } catch (error) {
    if (!(error instanceof PlayerFault)) throw error;
    const color = blamed ?? mover;
    record.fault = { color, kind: error.kind, message: error.message };
    record.winner = color === "white" ? "black" : "white";
    record.reason = `${color}: ${error.kind}`;
    record.ending = "fault";
  } finally {
    signal.removeEventListener("abort", onAbort);
    for (const color of ["white", "black"] as const) players[color].onFault = undefined;
  }
  return record;
}

async function playMoves(
  position: Position,
  record: GameRecord,
  { limits, timeControl, marginMs, adjudication }: Conditions,
  choose: (color: Color, limits: Limits) => Promise<Choice>,
  onMove: GameOptions["onMove"],
): Promise<void> {
  const adjudicator = new Adjudicator(adjudication);
  const clocks = timeControl && { white: new ChessClock(timeControl), black: new ChessClock(timeControl) };
  for (;;) {
    const outcome = position.outcome();
    if (outcome) {
      record.winner = outcome.winner;
      record.reason = outcome.reason;
      return;
    }
    const mover = position.turn;
    const asked: Limits = { ...limits };
    if (clocks && timeControl) {
      asked.clock = {
        whiteMs: clocks.white.leftMs,
        blackMs: clocks.black.leftMs,
        whiteIncrementMs: timeControl.incrementMs,
        blackIncrementMs: timeControl.incrementMs,
        movesToGo: clocks[mover].movesToGo,
      };
    }
    const allowedMs = Math.min(clocks?.[mover].leftMs ?? Infinity, limits.moveTimeMs ?? Infinity);
    if (allowedMs < Infinity) asked.deadlineMs = allowedMs + marginMs;

    const { move, ...thought } = await choose(mover, asked);
    const { timeMs } = thought;
    if (timeMs > allowedMs + marginMs) {
      const [took, limit] = [timeMs, allowedMs].map((ms) => (ms / 1000).toFixed(3));
      throw new PlayerFault("time", `${mover} moved after ${took} s; it had ${limit} s.`);
    }
    clocks?.[mover].spend(timeMs);
    position.play(move);
    const played = { move, thought, clockMs: clocks?.[mover].leftMs };
    record.moves.push(played);
    onMove?.(played, position);

    const verdict = adjudicator.afterMove(mover, thought.lines[0]?.scoreCp, position);
    if (verdict) {
      record.winner = verdict.winner;
      record.reason = verdict.reason;
      record.ending = "adjudication";
      return;
    }
  }
}
