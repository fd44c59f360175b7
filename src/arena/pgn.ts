import { COLORS, type Color, parseFen, START_FEN } from "#chess";
import { formatClock, formatGame } from "#formats";
import type { GameRecord, PlayedMove } from "./game.js";

const clock = (ms: number) => formatClock(Math.max(0, Math.round(ms)));

/** The comment behind a move: what its player thought (in White's view, as PGN has it), its clock, its time. */
function formatThought({ thought, clockMs }: PlayedMove, mover: Color): string[] {
  if (!thought) return [];
  const { lines, depth, nodes, timeMs } = thought;
  const { scoreCp, mate } = lines[0] ?? {};
  const sign = mover === "white" ? 1 : -1;
  const words: string[] = [];
  if (mate !== undefined) words.push(`[%eval #${sign * mate}${depth === undefined ? "" : `,${depth}`}]`);
  else if (scoreCp !== undefined) {
    words.push(`[%eval ${((sign * scoreCp) / 100).toFixed(2)}${depth === undefined ? "" : `,${depth}`}]`);
  }
  if (clockMs !== undefined) words.push(`[%clk ${clock(clockMs)}]`);
  if (timeMs > 0) words.push(`[%emt ${clock(timeMs)}]`); // 0: not known, or of no importance
  if (nodes !== undefined) words.push(`${nodes} nodes`);
  return words.length > 0 ? [words.join(" ")] : [];
}

/** The result of a game as PGN writes it. */
export const resultOf = ({ winner }: Pick<GameRecord, "winner">) =>
  winner === undefined ? "1/2-1/2" : winner === "white" ? "1-0" : "0-1";

/** PGN's word for how a game ended. */
function terminationOf({ ending, fault }: GameRecord): string {
  if (ending !== "fault") return ending === "rules" ? "normal" : "adjudication";
  return fault?.kind === "time" ? "time forfeit" : fault?.kind === "illegal move" ? "rules infraction" : "abandoned";
}

/** A game as PGN. `before` are tags that stand first, `after` further ones; what follows from the game itself is added. */
export function formatRecord(
  record: GameRecord,
  before: readonly (readonly [string, string])[],
  after: readonly (readonly [string, string])[] = [],
): string {
  const { moves, fault, startFen, chess960 } = record;
  const start = parseFen(startFen, { chess960 });
  const sides = start.turn === "white" ? COLORS : COLORS.toReversed();
  const result = resultOf(record);
  const tags = new Map<string, string>([...before, ["Result", result]]);
  if (chess960) tags.set("Variant", "Chess960");
  if (startFen !== START_FEN) tags.set("SetUp", "1").set("FEN", startFen);
  tags.set("PlyCount", String(moves.length)).set("Termination", terminationOf(record)).set("Reason", record.reason);
  for (const [name, value] of after) tags.set(name, value);
  const comments = (ply: number) => {
    const thought = ply > 0 ? formatThought(moves[ply - 1], sides[(ply - 1) % 2]) : [];
    return fault && ply === moves.length ? [...thought, fault.message] : thought;
  };
  return formatGame({ tags, result, start, moves: moves.map(({ move }) => move), comments });
}
