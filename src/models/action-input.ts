import type { Position } from "#chess";
import { batchOf, FEN_TOKENS, MOVE_TABLES, turnFenTokens } from "#encodings";

const { actions1968 } = MOVE_TABLES;

/** The number of each move's mirror image, top to bottom, in actions1968. */
export const MIRRORED_ACTIONS: Readonly<Uint16Array> = Uint16Array.from({ length: actions1968.size }, (_, action) => {
  const { from, to, promotion } = actions1968.named(action, false)!;
  return actions1968.indexOfNamed({ from: from ^ 56, to: to ^ 56, promotion }, false);
});

/** A position as a network of moves sees it. */
export interface ActionInput {
  tokens: Uint8Array; // 77
  /** How the network numbers a move of actions1968 here. */
  numberOf: (action: number) => number;
}

/** Encodes a position; a network that is `turned` sees Black's as White's. */
export function encodeActionInput(position: Position, turned: boolean): ActionInput {
  const tokens = batchOf(position).fenTokens(1).slice(0, FEN_TOKENS);
  if (!turned || position.turn === "white") return { tokens, numberOf: (action) => action };
  turnFenTokens(tokens);
  return { tokens, numberOf: (action) => MIRRORED_ACTIONS[action] };
}
