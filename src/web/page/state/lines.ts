import { formatSan, type Position, parseUci } from "#chess";

/** A move of a line as it is shown, and the position after it. */
export interface LineMove {
  text: string; // "12. Nf3", "Nf6"
  uci: string;
  path: string; // the moves up to it
  after: Position;
}

/** A line of moves in UCI with numbers; it ends where a move is not legal. */
export function formatPv(position: Position, moves: readonly string[], most = Infinity): LineMove[] {
  const line: LineMove[] = [];
  let board = position;
  for (const uci of moves.slice(0, most)) {
    const move = parseUci(board, uci);
    if (move === undefined) break;
    const number = board.turn === "white" ? `${board.fullmoves}. ` : line.length === 0 ? `${board.fullmoves}... ` : "";
    const after = board.clone().play(move);
    line.push({ text: number + formatSan(board, move), uci, path: `${line.at(-1)?.path ?? ""} ${uci}`, after });
    board = after;
  }
  return line;
}
