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

/** Figurines as letters: white ones and black ones stand in this order in Unicode. */
const plainLetters = (text: string) =>
  text.replace(/[\u2654-\u265f]\ufe0e?/g, (figurine) => "KQRBNP"[(figurine.charCodeAt(0) - 0x2654) % 6]);

/**
 * The legal move a text means, or undefined if it is unreadable, illegal or ambiguous. Check marks and annotations may
 * be missing or wrong; superfluous origins (Ng1f3), UCI (g1f3, e1g1), figurines, e8=q and castling with zeros are understood.
 */
export function parseSan(position: Position, text: string): Move | undefined {
  position.enter();
  const found = wasm.parseSan(POSITION, TEXT, core.putText(plainLetters(text)), SCRATCH);
  return found > 0 ? found : undefined;
}
