import { COLORS, type Color } from "#chess";
import type { Wish } from "../minds/protocol.js";
import type { ChessClock } from "./clock.js";

/** Who plays a colour. */
export type Seat = HumanSeat | NetworkSeat;

interface HumanSeat {
  kind: "human";
}

export interface NetworkSeat {
  kind: "network";
  network: string; // its id among the networks
  search: string; // as behind the @ of a player
  nodes: number | undefined; // of a tree search, each move
  elo: number | undefined; // undefined: as strong as it can
  moveTimeMs: number; // without a clock
}

export type Seats = Readonly<Record<Color, Seat>>;

export const HUMAN: Seat = { kind: "human" };

/** The one colour a human plays, if it is one. */
export function humanColor(seats: Seats): Color | undefined {
  const humans = COLORS.filter((color) => seats[color].kind === "human");
  return humans.length === 1 ? humans[0] : undefined;
}

/** What a network is asked for its next move. */
export function wishOf(seat: NetworkSeat, clock: ChessClock | undefined, nowMs: number): Wish {
  if (seat.elo !== undefined) return {}; // the strength it was opened with ends its searches
  if (seat.nodes !== undefined) return { nodes: seat.nodes };
  if (!clock) return { moveTimeMs: seat.moveTimeMs };
  return {
    clock: {
      whiteMs: clock.remaining("white", nowMs),
      blackMs: clock.remaining("black", nowMs),
      whiteIncrementMs: clock.incrementMs,
      blackIncrementMs: clock.incrementMs,
    },
  };
}
