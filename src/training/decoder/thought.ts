// Thoughts from a player's variations, ordered and cut at random as ChessDecoder's finetuning has it.
import { type Random, UserError } from "#base";
import { type Position, parseFen, parseUci } from "#chess";
import { BOARD_TOKENS, encodeBoard68, MOVE_TABLES } from "#encodings";
import type { DataRecord, RawBatch } from "#formats";
import { drawNoise, showNoisy, type Thought, type ThoughtStep, thoughtTokens } from "./sequence.js";

const VARIATIONS = 3; // of a position, the most visited
const DEPTH = 5; // moves of a variation: 1 to so many, any as likely
const TAU = 0.3;
const SCORE_SCALE = 0.1; // win minus loss that makes a move e times as likely to come first, where no visits are known

/** A variation as `tabiya data variations` writes it. */
interface Known {
  move: string;
  visits: number | null;
  q: number;
  d: number;
  pv: readonly string[];
}

const { moves1924 } = MOVE_TABLES;

/** Whether lines are positions with variations, and not those of games: the first says so for all of its file. */
export const areThoughts = ({ bytes, ends }: RawBatch): boolean =>
  new TextDecoder().decode(bytes.subarray(0, ends[0])).includes('"variations"');

/**
 * A row of a table of variations as a thought of no more than so many tokens. Its values are a search's; when the network
 * thinks, they are its own guesses, so what it is shown of each variation is off by `valueNoise` (a standard deviation).
 */
export function thoughtOf(record: DataRecord, random: Random, length: number, valueNoise = 0): Thought {
  const position = parseFen(record.fen);
  const known = parseVariations(record.variations);
  const best = record.mcts_action ?? record.best_move ?? known[0].move;
  const worth = known.find(({ move }) => move === best) ?? known[0];
  const chosen = orderByChance(mostVisited(known), random);
  const variations: ThoughtStep[][] = [];
  let moves = 0;
  for (const { pv, q, d } of chosen) {
    const depth = Math.min(1 + random.below(DEPTH), pv.length);
    const steps: ThoughtStep[] = [];
    const board = position.clone();
    const noise = valueNoise > 0 ? drawNoise(valueNoise, random) : undefined;
    while (steps.length < depth && thoughtTokens(moves + 1, variations.length + 1) <= length) {
      // The value at the end of a line is that of every move in it, seen by whoever makes the move.
      const side = steps.length % 2 === 0 ? 1 : -1;
      const worth = { winLoss: side * q, draw: d };
      const shown = noise && showNoisy(worth, noise, side);
      steps.push({ ...stepOf(board, pv[steps.length], record.fen), ...worth, shown });
      moves++;
    }
    if (steps.length > 0) variations.push(steps);
  }
  const board = new Uint16Array(BOARD_TOKENS);
  encodeBoard68(position, board);
  return { board, move: indexOf(position, String(best), record.fen), winLoss: worth.q, draw: worth.d, variations };
}

/** Plays a move; its number and the board after it. */
function stepOf(position: Position, uci: string, fen: string): Pick<ThoughtStep, "move" | "board"> {
  const move = indexOf(position, uci, fen);
  position.play(parseUci(position, uci)!);
  const board = new Uint16Array(BOARD_TOKENS);
  encodeBoard68(position, board);
  return { move, board };
}

function indexOf(position: Position, uci: string, fen: string): number {
  const move = parseUci(position, uci);
  if (move === undefined) throw new UserError("RECORD_MOVE", `the move ${uci} is not legal in a variation of ${fen}.`);
  return moves1924.encode(position, move);
}

function parseVariations(value: unknown): readonly Known[] {
  const list: unknown = typeof value === "string" ? JSON.parse(value) : value;
  if (Array.isArray(list) && list.length > 0) return list as Known[];
  throw new UserError("RECORD_FIELD", '"variations" is missing, expected a list of at least one.');
}

/** How much a player looked at each of some variations, in shares. */
function sharesOf(variations: readonly Known[]): number[] {
  const isCounted = variations.some(({ visits }) => (visits ?? 0) > 0);
  const best = Math.max(...variations.map(({ q }) => q));
  const weights = variations.map(({ visits, q }) => (isCounted ? (visits ?? 0) : Math.exp((q - best) / SCORE_SCALE)));
  const sum = weights.reduce((a, b) => a + b);
  return weights.map((weight) => weight / sum);
}

function mostVisited(variations: readonly Known[]): Known[] {
  const shares = sharesOf(variations);
  const order = variations.map((_, i) => i).sort((a, b) => shares[b] - shares[a]);
  return order.slice(0, VARIATIONS).map((i) => variations[i]);
}

/**
 * A Plackett-Luce order: the first is drawn by share ^ (1 / tau), then the next among the rest. With tau = 0.3 (1 + Var),
 * the variance of the shares in units of an even share, positions with one clear move are ordered more loosely. Drawn all at
 * once, by adding Gumbel noise to the logarithms.
 */
export function orderByChance<V extends Known>(variations: readonly V[], random: Random): V[] {
  const shares = sharesOf(variations);
  const count = shares.length;
  const variance = shares.reduce((sum, share) => sum + (share * count - 1) ** 2, 0) / count;
  const tau = TAU * (1 + variance);
  const keys = shares.map((share) => {
    const gumbel = -Math.log(-Math.log(Math.max(1e-12, random.next())));
    return Math.log(Math.max(1e-9, share)) / tau + gumbel;
  });
  const order = variations.map((_, i) => i).sort((a, b) => keys[b] - keys[a]);
  return order.map((i) => variations[i]);
}
