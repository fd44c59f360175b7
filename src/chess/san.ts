import * as core from "./core.js";
import { POSITION, SCRATCH, TEXT, wasm } from "./core.js";
import type { Move } from "./move.js";
import type { Position } from "./position.js";

/** Nf3, exd8=Q+, O-O, Rad1#. The move must be legal. */
export function formatSan(position: Position, move: Move): string {
  position.enter();
  const length = wasm.formatSan(POSITION, move, TEXT, SCRATCH);
  return String.fromCharCode(...core.bytes.subarray(TEXT, TEXT + length));
}

/**
 * The legal move a text means, or undefined if it is unreadable, illegal or ambiguous. Check marks and annotations may
 * be missing or wrong; superfluous origins (Ng1f3) and castling with zeros are understood.
 */
export function parseSan(position: Position, text: string): Move | undefined {
  position.enter();
  const found = wasm.parseSan(POSITION, TEXT, core.putText(text), SCRATCH);
  return found > 0 ? found : undefined;
}
