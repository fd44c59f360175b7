import type { JudgedPosition } from "#data";
import type { MetricsLine, RunState, Setting } from "#training";

/** A run as it stands. `starting` is one whose data is still being made ready. */
export interface RunSummary {
  id: string; // the name of its folder in runs/
  state: RunState | "starting";
  message: string; // why it failed; else empty
  updatedMs: number; // when the state changed, since 1970
  family: string;
  size: string;
  epochs: number;
  steps: number | null; // in the whole run, if that is known
  last: MetricsLine | null; // what was measured last
  secondsLeft: number | null; // of a run that is being trained
  bestMs: number | null; // when its best checkpoint was saved, since 1970; null if there is none yet
}

/** A part of a run's metrics, as its file grows. */
export interface MetricsPart {
  from: number; // byte of the file
  to: number;
  lines: MetricsLine[];
}

/** GET /api/runs/ID */
export interface RunDetail {
  run: RunSummary;
  config: Record<string, unknown>;
  checkpoints: { name: string; epoch: number; step: number }[]; // in the order of their steps; `best` last
}

/** GET /api/runs/ID/checkpoints/NAME/mistakes */
export interface Mistakes {
  data: string; // the file that was looked at
  isUnseen: boolean; // whether the network did not learn from it
  positions: JudgedPosition[]; // the worst first
  sample: JudgedPosition[]; // the same ones for every checkpoint of a run
  sampled: number; // positions looked at
}

/** A recipe to begin a form with. */
export interface RecipeChoice {
  name: string;
  about: string; // its first sentence
  values: Record<string, unknown>;
}

/** GET /api/recipes */
export interface Recipes {
  recipes: RecipeChoice[];
  families: { family: string; sizes: { size: string; settings: Setting[] }[] }[];
  starts: string[]; // weights that a training may begin with
}
