import { type Move, type Position, parseUci } from "#chess";
import type { Limits } from "./player.js";

/** What `go` asks for. */
export interface GoRequest extends Limits {
  mate?: number;
  infinite: boolean;
  ponder: boolean;
  moves?: Move[]; // searchmoves
  unknown: string[]; // words that mean nothing here
}

const NUMBERS = ["wtime", "btime", "winc", "binc", "movestogo", "movetime", "nodes", "depth", "mate"] as const;

/** Reads the words after `go`. Anything may stand there: what is no number or no move is passed over and reported. */
export function parseGo(position: Position, words: readonly string[]): GoRequest {
  const numbers = new Map<string, number>();
  const request: GoRequest = { infinite: false, ponder: false, unknown: [] };
  for (let i = 0; i < words.length; i++) {
    const word = words[i];
    if ((NUMBERS as readonly string[]).includes(word)) {
      const value = Number(words[i + 1]);
      if (words[i + 1] === undefined || !Number.isFinite(value)) request.unknown.push(word);
      else numbers.set(word, Math.trunc(value));
      if (words[i + 1] !== undefined && !(NUMBERS as readonly string[]).includes(words[i + 1])) i++;
    } else if (word === "infinite") request.infinite = true;
    else if (word === "ponder") request.ponder = true;
    else if (word === "searchmoves") {
      request.moves = [];
      for (
        let move = parseUci(position, words[i + 1] ?? "");
        move !== undefined;
        move = parseUci(position, words[i + 1] ?? "")
      ) {
        request.moves.push(move);
        i++;
      }
    } else request.unknown.push(word);
  }
  const positive = (name: string) => {
    const value = numbers.get(name);
    return value === undefined ? undefined : Math.max(1, value);
  };
  request.nodes = positive("nodes");
  request.depth = positive("depth");
  request.mate = positive("mate");
  request.moveTimeMs = positive("movetime");
  if (numbers.has("wtime") || numbers.has("btime")) {
    request.clock = {
      whiteMs: numbers.get("wtime") ?? numbers.get("btime") ?? 1,
      blackMs: numbers.get("btime") ?? numbers.get("wtime") ?? 1,
      whiteIncrementMs: Math.max(0, numbers.get("winc") ?? 0),
      blackIncrementMs: Math.max(0, numbers.get("binc") ?? 0),
      movesToGo: positive("movestogo"),
    };
  }
  return request;
}
