import { core } from "#chess";

const { LIST, POSITION, SCRATCH, wasm } = core;

/** Of the position in the core's memory: nobody is in check, and no capture or promotion wins anything. */
export function isQuiet(): boolean {
  if (wasm.checkers(POSITION) !== 0n) return false;
  const count = wasm.generateNoisy(POSITION, LIST);
  for (let i = LIST >> 1; i < (LIST >> 1) + count; i++)
    if (wasm.see(POSITION, core.moves[i], SCRATCH) > 0) return false;
  return true;
}
