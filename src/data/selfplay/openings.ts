import type { Opening, OpeningBook } from "#arena";
import { type Random, UserError } from "#base";
import { formatFen, type Position, parseFen, ROLES, type Role, START_FEN } from "#chess";
import type { SelfPlaySpec } from "./spec.js";

const FEWEST = 4; // pieces of a random endgame, kings included
const MOST = 10;
const RANDOM_PLIES = 8;
const LETTERS: Record<Role, string> = { pawn: "p", knight: "n", bishop: "b", rook: "r", queen: "q", king: "k" };

/** Where a game of self-play begins; all that is left to chance is drawn from `random`. */
export function drawOpening(
  { file, randomPlies, randomShare, endgameShare }: SelfPlaySpec["openings"],
  book: OpeningBook | undefined,
  random: Random,
): Opening {
  if (random.next() < endgameShare) return { fen: drawEndgame(random), moves: [], chess960: false };
  const plies = randomPlies ?? (file === undefined ? RANDOM_PLIES : 0);
  for (;;) {
    const opening = book?.at(random.below(book.length)) ?? { fen: START_FEN, moves: [], chess960: false };
    const position = parseFen(opening.fen, { chess960: opening.chess960 });
    for (const move of opening.moves) position.play(move);
    const length = plies > 0 && random.next() < randomShare ? plies + random.below(2) : 0;
    for (let ply = 0; ply < length && !position.outcome(); ply++) position.play(random.pick(position.moves()));
    if (!position.outcome()) return { ...opening, moves: [...position.history] };
  }
}

/** A position of few pieces on random squares, in which the game is not over. */
function drawEndgame(random: Random): string {
  for (;;) {
    const board: string[] = new Array(64).fill("");
    const place = (letter: string, squares: number, first = 0) => {
      for (;;) {
        const square = first + random.below(squares);
        if (board[square] !== "") continue;
        board[square] = letter;
        return;
      }
    };
    place("K", 64);
    place("k", 64);
    for (let more = FEWEST + random.below(MOST - FEWEST + 1) - 2; more > 0; more--) {
      const role =
        random.next() < 0.5 ? "pawn" : random.pick(ROLES.filter((each) => each !== "pawn" && each !== "king"));
      const letter = random.next() < 0.5 ? LETTERS[role] : LETTERS[role].toUpperCase();
      if (role === "pawn") place(letter, 48, 8);
      else place(letter, 64);
    }
    const position = tryFen(`${formatBoard(board)} ${random.next() < 0.5 ? "w" : "b"} - - 0 1`);
    if (position && !position.outcome()) return formatFen(position);
  }
}

/** The position of a FEN; undefined where the side that moved stands in check, or the kings touch. */
function tryFen(fen: string): Position | undefined {
  try {
    return parseFen(fen);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** The board field of a FEN; squares from a1. */
function formatBoard(board: readonly string[]): string {
  const rank = (from: number) =>
    board
      .slice(from, from + 8)
      .map((letter) => letter || "1")
      .join("")
      .replace(/1+/g, (empty) => String(empty.length));
  return [56, 48, 40, 32, 24, 16, 8, 0].map(rank).join("/");
}
