import { serve } from "#base";
import type { OptimiserChoice } from "#tensor";
import type { NnueMemory } from "./memory.js";
import { NnueThread, type StepOrder } from "./thread.js";

let thread: NnueThread | undefined;

const opened = (): NnueThread => {
  if (!thread) throw new Error("internal: not opened");
  return thread;
};

serve({
  async open(setup: { memory: NnueMemory; index: number; optimiser: OptimiserChoice | undefined }) {
    thread = await NnueThread.open(setup);
  },
  step: (order: StepOrder) => opened().step(order),
  predict: (positions: number) => opened().predict(positions),
});
