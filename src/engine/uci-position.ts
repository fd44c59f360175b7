import { UserError } from "#base";
import { type Position, parseFen, parseUci, START_FEN } from "#chess";

/** Reads the words after `position`. From an illegal move on the moves are left out, and `complain` hears of it. */
export function parsePosition(words: readonly string[], chess960: boolean, complain: (text: string) => void): Position {
  const at = words.indexOf("moves");
  const head = at < 0 ? words : words.slice(0, at);
  let position: Position;
  if (head[0] === "startpos") position = parseFen(START_FEN, { chess960 });
  else if (head[0] === "fen") position = parseFen(head.slice(1).join(" "), { chess960 });
  else
    throw new UserError(
      "UCI_POSITION",
      `position "${(head[0] ?? "").slice(0, 60)}": expected "startpos" or "fen FEN".`,
    );
  for (const word of at < 0 ? [] : words.slice(at + 1)) {
    const move = parseUci(position, word);
    if (move === undefined) {
      complain(
        `The move "${word.slice(0, 20)}" is not legal after ${position.history.length} moves; it and the rest were left out.`,
      );
      break;
    }
    position.play(move);
  }
  return position;
}
