import { UserError } from "#base";
import { parseScore } from "#chess";

/** Centipawns of a move's value in a record: a number, or "#n" for a mate in n moves. */
export const cpOf = (value: number | string): number => {
  const score = parseScore(value);
  if (score !== undefined) return score;
  throw new UserError("RECORD_FIELD", `a move is valued ${JSON.stringify(value)}, expected centipawns or "#n".`);
};
