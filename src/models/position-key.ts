import type { Position } from "#chess";

/** What of a game an encoding may show besides the position itself. */
type Shown = "repetitions" | "halfmoves" | "fullmoves";

/** Equal for positions that look alike to a network which sees the pieces, the turn, the rights and what is `shown`. */
export function positionKey(position: Position, shown: readonly Shown[]): string {
  let key = `${position.key}${position.chess960 ? "x" : ""}`; // moves are numbered otherwise in Chess960
  for (const what of shown) key += ` ${what === "repetitions" ? position.repetitions() : position[what]}`;
  return key;
}
