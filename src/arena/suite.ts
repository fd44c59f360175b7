import { atPlace, UserError } from "#base";
import { type Move, type Position, parseFen, parseSan, parseUci } from "#chess";
import type { Player } from "#engine";
import type { Limits } from "#search";
import { fenOfEpd, needsChess960 } from "./openings.js";

/** A position of a test suite and what its moves are worth. */
export interface SuiteTask {
  id: string;
  position: Position;
  best: ReadonlySet<Move>; // moves that solve it; empty if it only names moves to avoid
  avoid: ReadonlySet<Move>;
  points: ReadonlyMap<Move, number>; // of a suite that rates several moves; empty if not
  maxPoints: number;
}

/** The operations of an EPD line: `bm Nf3; id "a b";` */
function parseOperations(text: string): Map<string, string> {
  const operations = new Map<string, string>();
  for (const [, code, value = ""] of text.matchAll(/([A-Za-z]\w*)((?:\s+(?:"[^"]*"|[^;"]*))*);/g)) {
    operations.set(code, value.trim().replace(/^"([^"]*)"$/, "$1"));
  }
  return operations;
}

/** Reads one line of a suite: `bm`, `am`, and the points of STS in c0 (`f5=10, Be5+=2`) or c8 and c9. */
export function parseTask(line: string, where: string): SuiteTask {
  const fen = fenOfEpd(line);
  const position = parseFenAt(fen, where);
  const rest = line.trim().split(/\s+/).slice(fen.split(" ").length).join(" ");
  const operations = parseOperations(`${rest};`);
  const find = (text: string): Move => {
    const move = parseSan(position, text) ?? parseUci(position, text);
    if (move !== undefined) return move;
    throw new UserError("EPD_MOVE", `${where}: ${text} is not a legal move in ${fen}.`);
  };
  const moves = (code: string) => new Set((operations.get(code) ?? "").split(/\s+/).filter(Boolean).map(find));
  const best = moves("bm");
  const avoid = moves("am");
  if (best.size + avoid.size === 0) {
    throw new UserError("EPD_TASK", `${where}: neither bm nor am; expected a best move or a move to avoid.`);
  }
  const points = readPoints(operations, find);
  return {
    id: operations.get("id") ?? where,
    position,
    best,
    avoid,
    points,
    maxPoints: points.size === 0 ? 1 : Math.max(...points.values()),
  };
}

function parseFenAt(fen: string, where: string): Position {
  return atPlace(where, () => {
    const position = parseFen(fen, { chess960: true });
    return needsChess960(position) ? position : parseFen(fen);
  });
}

function readPoints(operations: Map<string, string>, find: (text: string) => Move): Map<Move, number> {
  const numbers = operations.get("c8")?.split(/\s+/).map(Number);
  const names = operations.get("c9")?.split(/\s+/);
  if (numbers && names && numbers.length === names.length && numbers.every(Number.isFinite)) {
    return new Map(names.map((name, i) => [find(name), numbers[i]]));
  }
  const pairs = [...(operations.get("c0") ?? "").matchAll(/([^\s,=]+(?:=[NBRQ])?[+#]?)=(\d+)(?=,|\s|$)/g)];
  return new Map(pairs.map(([, san, value]) => [find(san), Number(value)]));
}

/** What a move is worth in a task. */
export function gradeMove({ best, avoid, points }: SuiteTask, move: Move): { solved: boolean; points: number } {
  const solved = best.size > 0 ? best.has(move) : !avoid.has(move);
  return { solved, points: points.size > 0 ? (points.get(move) ?? 0) : solved ? 1 : 0 };
}

/** Lets a player choose a move in a position of a test suite, and grades it. */
export async function solveTask(player: Player, task: SuiteTask, limits: Limits) {
  const { move } = await player.choose(task.position, limits);
  return gradeMove(task, move);
}
