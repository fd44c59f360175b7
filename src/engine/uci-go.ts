import { type Move, type Position, parseUci } from "#chess";
import type { Limits } from "#search";

/** What `go` asks for. */
export interface GoRequest {
  limits: Limits;
  infinite: boolean; // the answer waits for `stop`
  ponder: boolean; // it waits for `stop` or `ponderhit`
  notes: string[]; // what could not be understood, in sentences
}

const NUMBERS: readonly string[] = [
  "wtime",
  "btime",
  "winc",
  "binc",
  "movestogo",
  "movetime",
  "nodes",
  "depth",
  "mate",
];

/** Reads the words after `go`. Anything may stand there: what is no number or no move is passed over and noted. */
export function parseGo(position: Position, words: readonly string[]): GoRequest {
  const numbers = new Map<string, number>();
  const request: GoRequest = { limits: {}, infinite: false, ponder: false, notes: [] };
  const unknown: string[] = [];
  let moves: Move[] | undefined;
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    const next: string | undefined = words[i + 1];
    if (NUMBERS.includes(word)) {
      const value = Number(next);
      if (next === undefined || !Number.isFinite(value)) unknown.push(word);
      else numbers.set(word, Math.trunc(value));
      if (next !== undefined && !NUMBERS.includes(next)) i++;
    } else if (word === "infinite") request.infinite = true;
    else if (word === "ponder") request.ponder = true;
    else if (word === "searchmoves") {
      moves = [];
      for (;;) {
        const move = parseUci(position, words[i + 1] ?? "");
        if (move === undefined) break;
        moves.push(move);
        i++;
      }
    } else unknown.push(word);
  }
  if (unknown.length > 0) request.notes.push(`go: passed over ${unknown.slice(0, 5).join(", ").slice(0, 80)}.`);
  if (moves?.length === 0) request.notes.push("go searchmoves: none of the moves is legal; all are searched.");
  request.limits = limitsOf(numbers, request.infinite);
  if (moves && moves.length > 0) request.limits.moves = moves;
  return request;
}

function limitsOf(numbers: ReadonlyMap<string, number>, infinite: boolean): Limits {
  const positive = (name: string) => {
    const value = numbers.get(name);
    return value === undefined ? undefined : Math.max(1, value);
  };
  const limits: Limits = { nodes: positive("nodes"), depth: positive("depth"), mate: positive("mate") };
  if (infinite) return limits; // no clock runs
  limits.moveTimeMs = positive("movetime");
  if (numbers.has("wtime") || numbers.has("btime")) {
    limits.clock = {
      whiteMs: numbers.get("wtime") ?? numbers.get("btime") ?? 1,
      blackMs: numbers.get("btime") ?? numbers.get("wtime") ?? 1,
      whiteIncrementMs: Math.max(0, numbers.get("winc") ?? 0),
      blackIncrementMs: Math.max(0, numbers.get("binc") ?? 0),
      movesToGo: positive("movestogo"),
    };
  }
  return limits;
}
