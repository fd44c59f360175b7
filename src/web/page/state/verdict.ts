import { type Color, expectedPoints, isMateScore, movesToMate, type Wdl, winProbability } from "#chess";
import type { Report } from "#engine";

/** What somebody thinks of a position, in White's view. */
export interface Verdict {
  by: string; // who says so
  whiteCp?: number; // a mate in n plies is 32000 - n
  wdl?: Wdl; // of White
  depth?: number;
  best?: string; // the best move, in UCI
}

/** What a report says of its position, in White's view. */
export function verdictOf({ lines, depth }: Report, turn: Color, by: string): Verdict {
  const line = lines.at(0);
  if (!line) return { by };
  const sign = turn === "white" ? 1 : -1;
  const wdl: Wdl | undefined = line.wdl && (sign > 0 ? line.wdl : [line.wdl[2], line.wdl[1], line.wdl[0]]);
  const whiteCp = line.scoreCp === undefined ? undefined : sign * line.scoreCp;
  return { by, whiteCp, wdl, depth: line.depth ?? depth, best: line.pv[0] };
}

/** White's share of the point by a verdict; undefined if it says nothing. */
export function whiteShare({ wdl, whiteCp }: Verdict): number | undefined {
  if (wdl) return expectedPoints(wdl);
  return whiteCp === undefined ? undefined : winProbability(whiteCp);
}

/** "+1.3", "#5", "-#2"; for White. */
export function formatWhiteCp(whiteCp: number): string {
  if (isMateScore(whiteCp)) return `#${movesToMate(whiteCp)}`;
  const pawns = Math.round(whiteCp / 10) / 10;
  return `${pawns > 0 ? "+" : ""}${(pawns || 0).toFixed(1)}`; // no "-0.0"
}
