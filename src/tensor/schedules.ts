/**
 * The learning rate over time, as plain data. Steps count from 0. During the first `warmupSteps` the rate climbs in a
 * straight line, so that step warmupSteps - 1 is the first at full rate; `cosine` falls from there to `final` of the
 * peak at step `steps` and stays; `step` multiplies by `factor` every `every` steps (StepLR).
 */
export type Schedule =
  | { kind: "constant"; warmupSteps?: number }
  | { kind: "cosine"; steps: number; warmupSteps?: number; final?: number }
  | { kind: "step"; every: number; factor: number; warmupSteps?: number };

/** The learning rate at a step, counted from 0. */
export function learningRateAt(schedule: Schedule, peak: number, step: number): number {
  const { warmupSteps = 0 } = schedule;
  if (step < warmupSteps) return (peak * (step + 1)) / warmupSteps;
  switch (schedule.kind) {
    case "constant":
      return peak;
    case "cosine": {
      const { steps, final = 0 } = schedule;
      const done = steps > warmupSteps ? Math.min(1, (step - warmupSteps) / (steps - warmupSteps)) : 1;
      return peak * (final + ((1 - final) * (1 + Math.cos(Math.PI * done))) / 2);
    }
    case "step":
      return peak * schedule.factor ** Math.floor(step / schedule.every);
  }
}
