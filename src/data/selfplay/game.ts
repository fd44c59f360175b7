import { type Adjudication, Adjudicator, type GameRecord } from "#arena";
import { type Color, formatFen, formatUci, type Position, parseFen, parseUci } from "#chess";
import { MOVE_TABLES, type MoveTableName } from "#encodings";
import type { DataRecord } from "#formats";

/** The table by which policies are numbered. */
export const POLICY_TABLE: MoveTableName = "moves4672";

/** What a search found out about a position, all for the mover. */
export interface SearchedPosition {
  ply: number; // moves from the start of the game to it
  value: number; // of the root, -1 to 1
  policy?: Record<string, number>; // shares by index of POLICY_TABLE, of a tree; they add up to 1
}

/** A finished game: plain JSON, a line of the journal. */
export interface SelfPlayGame {
  game: number; // from 0
  fen: string; // of the start
  moves: string[]; // in UCI
  opening: number; // the first so many moves were not chosen by the player
  scores: number[]; // centipawns for the mover, of each move that the player chose
  positions: SearchedPosition[]; // those to learn from
  result: -1 | 0 | 1; // for White
  reason: string;
  isCut: boolean; // ended by its length alone: the result means nothing
  adjudication?: "right" | "wrong"; // of a game that was played on against the rules: what they would have been
}

/** Turns the record of a game into plain data. */
export function gameOf(
  game: number,
  { startFen, moves, winner, reason, ending }: GameRecord,
  positions: SearchedPosition[],
  maxMoves: number,
): SelfPlayGame {
  const position = parseFen(startFen);
  const words = moves.map(({ move }) => {
    const word = formatUci(position, move);
    position.play(move);
    return word;
  });
  const opening = moves.findIndex(({ thought }) => thought !== undefined);
  const chosen = opening < 0 ? [] : moves.slice(opening);
  return {
    game,
    fen: startFen,
    moves: words,
    opening: opening < 0 ? moves.length : opening,
    scores: chosen.map(({ thought }) => thought?.lines[0]?.scoreCp ?? 0),
    positions,
    result: winner === undefined ? 0 : winner === "white" ? 1 : -1,
    reason,
    isCut: ending === "adjudication" && winner === undefined && chosen.length >= 2 * maxMoves,
  };
}

/** Calls `visit` with the position before each move; returns the last one. */
function replay({ fen, moves }: SelfPlayGame, visit: (position: Position, ply: number) => void): Position {
  const position = parseFen(fen);
  for (const [ply, word] of moves.entries()) {
    visit(position, ply);
    position.play(parseUci(position, word) ?? 0);
  }
  return position;
}

/** Whether the rules would have ended a game that was played on, and with its true result; undefined if that is not known. */
export function judgeAdjudication(game: SelfPlayGame, rules: Adjudication): SelfPlayGame["adjudication"] {
  const adjudicator = new Adjudicator(rules);
  let verdict: ReturnType<Adjudicator["afterMove"]>;
  const judge = (mover: Color, ply: number, after: Position) => {
    if (ply >= game.opening) verdict ??= adjudicator.afterMove(mover, game.scores[ply - game.opening], after);
  };
  const end = replay(game, (position, ply) => {
    if (ply > 0) judge(position.turn === "white" ? "black" : "white", ply - 1, position);
  });
  if (game.moves.length > 0) judge(end.turn === "white" ? "black" : "white", game.moves.length - 1, end);
  if (!verdict || game.isCut) return undefined;
  const { winner } = verdict;
  return game.result === (winner === undefined ? 0 : winner === "white" ? 1 : -1) ? "right" : "wrong";
}

const resultFor = (color: Color, result: number): number => (color === "white" ? result : 0 - result);

/** What a network with a policy learns from: the shape of OmegaZero's self-play, with what the search found beside it. */
export function policyRecords(game: SelfPlayGame): DataRecord[] {
  return recordsOf(game, ({ policy, value, ply }, position) => ({
    policy,
    value: game.isCut ? value : resultFor(position.turn, game.result),
    root_value: value,
    game: game.game,
    ply,
  }));
}

/** What a network that values positions learns from: the move, its score, the result. */
export function scoredRecords(game: SelfPlayGame): DataRecord[] {
  return recordsOf(game, ({ ply }, position) => ({
    move: game.moves[ply],
    score: game.scores[ply - game.opening],
    ply,
    result: resultFor(position.turn, game.result),
  }));
}

function recordsOf(
  game: SelfPlayGame,
  fields: (searched: SearchedPosition, position: Position) => Omit<DataRecord, "fen">,
): DataRecord[] {
  const searched = new Map(game.positions.map((each) => [each.ply, each]));
  const records: DataRecord[] = [];
  replay(game, (position, ply) => {
    const found = searched.get(ply);
    if (found) records.push({ fen: formatFen(position), ...fields(found, position) });
  });
  return records;
}

const UNITS = 100_000; // shares are whole multiples of 1/UNITS

/** A policy by index, in shares that add up to 1 exactly and print shortly; what is smaller than half a unit is left out. */
export function sparsePolicy(
  position: Position,
  moves: readonly number[],
  shares: ArrayLike<number>,
): Record<string, number> {
  let sum = 0;
  for (let i = 0; i < moves.length; i++) sum += shares[i];
  const units = moves.map((_, i) => Math.round((shares[i] / sum) * UNITS));
  const best = units.indexOf(Math.max(...units));
  units[best] += UNITS - units.reduce((a, b) => a + b, 0);
  const table = MOVE_TABLES[POLICY_TABLE];
  return Object.fromEntries(
    moves.flatMap((move, i) => (units[i] > 0 ? [[table.encode(position, move), units[i] / UNITS]] : [])),
  );
}
