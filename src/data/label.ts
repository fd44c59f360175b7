import { UserError } from "#base";
import { clampScore, formatFen, formatUci, type Position, parseScore, winProbability } from "#chess";
import { type Line, PlayerFault } from "#engine";
import { BAG_KINDS, type BagKind, type DataRecord, formatOf } from "#formats";
import { type AskOptions, type AskResult, askPositions, type Question } from "./ask.js";

/** How an engine values positions. */
export interface LabelOptions extends AskOptions {
  engine: string; // its command, for the journal
  allMoves: boolean; // value every legal move, not only the position
}

/** How many positions were valued. */
export type LabelResult = AskResult;

/** What an engine said of a position. */
interface Label {
  move?: string;
  score?: number;
  moves?: Record<string, number | string>;
}

/** The value of a position, or of every move there. */
export const labelQuestion = (allMoves: boolean): Question<Label> => ({
  multiPv: (legal) => (allMoves ? legal : 1),
  answerOf({ lines, move }, position) {
    if (allMoves) return { moves: valuesOf(lines, position, position.moves().length) };
    const scoreCp = lines[0]?.scoreCp;
    if (scoreCp === undefined) throw new PlayerFault("illegal move", "gave no score.");
    return { move: formatUci(position, move), score: clampScore(Math.round(scoreCp)) };
  },
});

/** Lets engines value the positions of a file. */
export function labelPositions(from: string, to: string, options: LabelOptions): Promise<LabelResult> {
  const { engine, limits, allMoves, kind } = options;
  return askPositions<Label>(
    from,
    to,
    {
      header: { labels: 1, engine, limits, allMoves },
      ...labelQuestion(allMoves),
      recordsOf: (record, label) => recordsOf(record, label, kind, allMoves),
    },
    options,
  );
}

/** Every legal move with its value: centipawns, or "#n" for a mate in n moves. */
function valuesOf(lines: readonly Line[], position: Position, legal: number): Record<string, number | string> {
  const moves: Record<string, number | string> = {};
  for (const { pv, scoreCp, mate } of lines) {
    const value = mate === undefined ? scoreCp : `#${mate}`;
    if (pv[0] !== undefined && value !== undefined) moves[pv[0]] = value;
  }
  const count = Object.keys(moves).length;
  if (count !== legal) {
    throw new PlayerFault(
      "illegal move",
      `valued ${count} of the ${legal} moves of ${formatFen(position)}; more nodes may help.`,
    );
  }
  return moves;
}

/** What becomes of a position and its label. */
function recordsOf(record: DataRecord, label: Label, kind: BagKind | undefined, allMoves: boolean): DataRecord[] {
  const { fen } = record;
  const { move = "", score = 0, moves = {} } = label;
  if (allMoves) {
    if (kind === undefined) return [{ fen, moves }];
    return Object.entries(moves).map(([uci, value]) => ({
      fen,
      move: uci,
      win_prob: winProbability(parseScore(value)!),
    }));
  }
  if (kind === "behavioral_cloning") return [{ fen, move }];
  if (kind === "state_value") return [{ fen, win_prob: winProbability(score) }];
  if (kind === "action_value") return [{ fen, move, win_prob: winProbability(score) }];
  const [, side, , , , number = "1"] = fen.split(" ");
  const ply = record.ply ?? 2 * (Math.max(1, Number(number)) - 1) + (side === "b" ? 1 : 0);
  return [{ fen, move, score, ply, result: record.result ?? 0 }];
}

/** Refuses what the output could not hold, before an engine has thought for hours. */
export function checkLabelOutput(to: string, allMoves: boolean, kind: BagKind | undefined): void {
  const format = formatOf(to);
  if (format === "bag" || format === "bagz") {
    if (kind !== undefined && (!allMoves || kind === "action_value")) return;
    throw new UserError(
      "LABEL_KIND",
      `${to}: choose the kind of records to make: ${allMoves ? "action_value" : BAG_KINDS.join(", ")}.`,
    );
  }
  if (kind !== undefined) throw new UserError("LABEL_KIND", `${to}: only .bag and .bagz files have a kind.`);
  if (allMoves && format !== "jsonl" && format !== "parquet") {
    throw new UserError("LABEL_KIND", `${to}: values of all moves fit into .jsonl, .parquet, .bag or .bagz.`);
  }
}
