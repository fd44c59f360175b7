import { UserError } from "#base";

/** A game that could not be read, and why. It was skipped; the games after it are not affected. */
export class BadGame extends UserError {
  constructor(
    readonly source: string, // the file, for messages
    readonly game: number, // its number in the file, from 1
    readonly line: number, // of the trouble, from 1
    readonly reason: string,
    readonly tags = 0, // tags it has: a text without any may be no game at all
  ) {
    super("PGN_GAME", `${source}: game ${game}, line ${line}: ${reason}`);
  }
}

/** What readers do with a bad game unless they are told otherwise. */
export const throwBad = (error: BadGame): void => {
  throw error;
};

// The numbers of assembly/chess/records/pgn.ts
const REASONS: Record<number, (text: string, where: string) => string> = {
  1: (text, where) => `"${text}" ${where} is not a move.`,
  2: (text, where) => `the move ${text} ${where} is not legal.`,
  3: (text, where) => `the move ${text} ${where} is ambiguous: more than one piece can play it.`,
  4: (text, where) => `"${text}" ${where} is a null move, which no game can contain.`,
  5: (text) => `the comment that begins with ${text} is never closed by "}".`,
  6: (text) => `the variation that begins with ${text} is never closed by ")".`,
  7: (text) => `${text} is not a tag; expected [Name "value"].`,
};

/** The reason in words; `where` names the move, as in "(move 12, Black)". */
export function explainError(code: number, text: string, where: string): string {
  return REASONS[code](text.length > 40 ? `${text.slice(0, 40)}...` : text, where);
}
