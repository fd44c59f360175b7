// What networks think, as arrows on the board.
import type { DrawShape } from "@lichess-org/chessground/draw";
import type { Key } from "@lichess-org/chessground/types";
import { castlingTarget, isCastling, moveFrom, moveTo, type Position, parseUci } from "#chess";
import type { ByMove, Report } from "#engine";
import { keyOf } from "./moves.js";

const BRUSHES = ["paleGreen", "paleBlue", "paleGrey", "paleGrey"] as const;
const WIDEST = 15;
const NARROWEST = 3;

/** The squares of a move in UCI, the king's target for castling. */
export function ends(position: Position, uci: string): { orig: Key; dest: Key } | undefined {
  const move = parseUci(position, uci);
  if (move === undefined) return undefined;
  const to = isCastling(move) && !position.chess960 ? castlingTarget(move) : moveTo(move);
  return { orig: keyOf(moveFrom(move)), dest: keyOf(to) };
}

const MOST_ARROWS = 8;

/** Arrows as wide as each move's share, for the moves with the largest; shares below a fiftieth are left out. */
export function shareArrows(position: Position, shares: ByMove, brush: string): DrawShape[] {
  const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const largest = Object.entries(shares)
    .sort((a, b) => b[1] - a[1])
    .slice(0, MOST_ARROWS);
  return largest.flatMap(([uci, share]) => {
    const place = ends(position, uci);
    const part = total > 0 ? share / total : 0;
    if (!place || part < 0.02) return [];
    return [{ ...place, brush, modifiers: { lineWidth: NARROWEST + (WIDEST - NARROWEST) * Math.sqrt(part) } }];
  });
}

/** Arrows of a report: the shares of visits or of the policy where it has them, else the first moves of its lines. */
export function arrowsOf(position: Position, { visits, policy, lines }: Report): DrawShape[] {
  const shares = visits ?? policy;
  if (shares) return shareArrows(position, shares, "paleGreen");
  return lines.slice(0, 4).flatMap(({ pv }, i) => {
    const place = pv.length > 0 ? ends(position, pv[0]) : undefined;
    return place ? [{ ...place, brush: BRUSHES[i], modifiers: { lineWidth: [12, 8, 6, 4][i] } }] : [];
  });
}
