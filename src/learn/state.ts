import type { Pentanomial } from "#arena";
import { listFolder, makeFolder, readText, UserError, writeFile } from "#base";
import type { SelfPlayCounts } from "#data";
import { checkLearnRecipe, type LearnRecipe } from "./recipe.js";

/** What is done for a generation, in this order. */
export const PHASES = ["selfplay", "train", "gate", "ladder", "done"] as const;
/** What is being done for a generation. */
export type Phase = (typeof PHASES)[number];

/** Games of a generation against somebody, in the generation's view. */
export interface Encountered {
  opponent: string; // "generation 3", or a player of the ladder
  wins: number;
  draws: number;
  losses: number;
  pentanomial: Pentanomial;
  elo: number | null; // null if infinite
  error: number | null;
  test?: "H0" | "H1" | "undecided";
}

/** What is known of a generation. */
export interface Generation {
  number: number; // from 1; 0 is the network that it all began with
  phase: Phase; // the one that is being worked on
  parent: number; // the generation that played the games
  selfplay?: SelfPlayCounts;
  training?: { positions: number; steps: number; loss: number }; // none while there were too few positions
  gate?: Encountered;
  ladder?: Encountered[];
  promoted: boolean;
  seconds: Partial<Record<Phase, number>>;
}

/** All that a run knows; the one file from which it is resumed. */
export interface LearnState {
  version: 1;
  recipe: LearnRecipe;
  best: number; // the generation that plays the next games
  latest: number; // the one that training goes on from
  fresh: number; // positions played since the last training
  generations: Generation[];
}

const stateFile = (run: string): string => `${run}/state.json`;

export const generationFolder = (run: string, number: number): string =>
  `${run}/generations/${String(number).padStart(3, "0")}`;

/** The network of a generation; one that learnt nothing has none. */
export const networkFolder = (run: string, number: number): string => `${generationFolder(run, number)}/network`;

export async function saveState(run: string, state: LearnState): Promise<void> {
  await makeFolder(run);
  await writeFile(stateFile(run), `${JSON.stringify(state, null, 2)}\n`);
}

/** The state of a run; undefined if the folder holds none. */
export async function loadState(run: string): Promise<LearnState | undefined> {
  if (!(await listFolder(run))?.includes("state.json")) return undefined;
  const state = JSON.parse(await readText(stateFile(run))) as LearnState;
  if (state.version !== 1)
    throw new UserError("LEARN_STATE", `${stateFile(run)}: version ${state.version}; this program knows version 1.`);
  return { ...state, recipe: checkLearnRecipe(state.recipe, stateFile(run)) };
}
