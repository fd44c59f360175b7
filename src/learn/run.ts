// The refinement loop: the best network plays itself, a copy learns from the games of the last generations, and takes its
// place if it wins a match. All that a run knows is in state.json, written whole after each phase; a phase that was broken
// off is resumed from its own files.
import { assert, listFolder, lockFolder, UserError } from "#base";
import type { PlayContest, PlayGames } from "#data";
import {
  climbLadder,
  forgetGames,
  forgetTraining,
  hasPassed,
  learnGames,
  makeFirst,
  passGate,
  playGames,
  type Work,
} from "./phases.js";
import { rateGenerations } from "./ratings.js";
import type { LearnRecipe } from "./recipe.js";
import { type Generation, type LearnState, loadState, networkFolder, PHASES, saveState } from "./state.js";

/** What is learnt, where it is kept, how far it goes, and who is told. */
export interface LearnOptions {
  run: string; // the folder that keeps everything
  recipe?: LearnRecipe; // of a new run; a run that is resumed has its own
  resume?: boolean;
  generations?: number; // in all, instead of the recipe's
  hours?: number; // after which it stops, to be resumed
  signal?: AbortSignal; // the same at any moment
  play?: PlayGames; // who plays the games of self-play; this thread by default
  playMatch?: PlayContest; // who plays those of gates and ladders; this program by default
  onProgress?(generation: Readonly<Generation>, progress: Parameters<Work["onProgress"]>[0]): void;
  onPhase?(state: Readonly<LearnState>, generation: Readonly<Generation>): void; // after each
}

/** A generation in one row. */
export interface GenerationRow {
  number: number;
  games: number;
  positions: number;
  loss: number | null; // null if it learnt nothing yet
  elo: number | null; // over the first network, by all games; null before it has played any
  error: number | null; // half the 95 % interval
  promoted: boolean;
}

const OUT_OF_TIME = new Error("the time is up");

/**
 * Runs generations until there are enough, the time is up or a signal stops it; the last two leave a run to be resumed. A
 * folder that another process learns in is refused.
 */
export async function runLearning(options: LearnOptions): Promise<LearnState> {
  const { run, recipe } = options;
  if (!recipe && !(await loadState(run)))
    throw new UserError("RUN_MISSING", `${run}: holds no run. Begin one with a recipe.`);
  const lock = await lockFolder(run);
  try {
    return await runGenerations(options);
  } finally {
    await lock.release();
  }
}

async function runGenerations(options: LearnOptions): Promise<LearnState> {
  const { run, hours, signal = new AbortController().signal } = options;
  const state = await openRun(options);
  const wanted = options.generations ?? state.recipe.generations;
  const clock = new AbortController();
  const timer = hours === undefined ? undefined : setTimeout(() => clock.abort(OUT_OF_TIME), hours * 3_600_000);
  const stop = AbortSignal.any([signal, clock.signal]);
  try {
    for (;;) {
      const last = state.generations[state.generations.length - 1];
      if (last && last.phase !== "done") await finish(options, state, last, stop);
      else if (state.generations.length >= wanted) break;
      else {
        const number = state.generations.length + 1;
        state.generations.push({ number, phase: "selfplay", parent: state.best, promoted: false, seconds: {} });
        await saveState(run, state);
      }
    }
  } catch (error) {
    if (!clock.signal.aborted || signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  return state;
}

async function openRun({ run, recipe, resume }: LearnOptions): Promise<LearnState> {
  const found = await loadState(run);
  if (found && !resume)
    throw new UserError("RUN_EXISTS", `${run}: holds a run already. Resume it, or name another folder.`);
  if (found && recipe && JSON.stringify(recipe) !== JSON.stringify(found.recipe))
    throw new UserError(
      "RUN_DIFFERS",
      `${run}: was begun with another recipe, and would not be the same run any more. Resume it with its own, or begin a new run in another folder.`,
    );
  const own = found?.recipe ?? recipe;
  assert(own, "a run without a recipe");
  const state: LearnState = found ?? { version: 1, recipe: own, best: 0, latest: 0, fresh: 0, generations: [] };
  if ((await listFolder(networkFolder(run, 0))) === undefined) await makeFirst(run, own);
  await saveState(run, state);
  return state;
}

/** Takes a generation through the phases it has not been through. */
async function finish(options: LearnOptions, state: LearnState, generation: Generation, signal: AbortSignal) {
  const { run, play, playMatch, onProgress, onPhase } = options;
  const work: Work = {
    run,
    state,
    generation,
    signal,
    play,
    playMatch,
    onProgress: (progress) => onProgress?.(generation, progress),
  };
  while (generation.phase !== "done") {
    signal.throwIfAborted();
    const { phase } = generation;
    const start = performance.now();
    await STEPS[phase](work);
    generation.seconds[phase] = (performance.now() - start) / 1000;
    generation.phase = PHASES[PHASES.indexOf(phase) + 1];
    await saveState(run, state);
    await AFTER[phase]?.(work);
    onPhase?.(state, generation);
  }
}

const STEPS: Record<Exclude<Generation["phase"], "done">, (work: Work) => Promise<void>> = {
  async selfplay(work) {
    const { state, generation } = work;
    generation.selfplay = await playGames(work);
    state.fresh += generation.selfplay.positions;
  },
  async train(work) {
    const { state, generation } = work;
    generation.training = await learnGames(work);
    if (!generation.training) return;
    state.latest = generation.number;
    state.fresh = 0;
  },
  async gate(work) {
    const { state, generation } = work;
    if (!generation.training) return;
    generation.gate = await passGate(work);
    generation.promoted = hasPassed(generation.gate);
    if (generation.promoted) state.best = generation.number;
  },
  async ladder(work) {
    const { state, generation } = work;
    if (!generation.training || generation.number % state.recipe.ladder.every !== 0) return;
    generation.ladder = await climbLadder(work);
  },
};

/** What may go once the state knows the result of a phase. */
const AFTER: Partial<Record<Generation["phase"], (work: Work) => Promise<void>>> = {
  selfplay: forgetGames,
  train: async (work) => {
    if (work.generation.training) await forgetTraining(work);
  },
};

/** The table of a run. */
export function listGenerations(state: LearnState): GenerationRow[] {
  const ratings = rateGenerations(state);
  return state.generations.map(({ number, selfplay, training, promoted }) => {
    const rating = ratings.get(`generation ${number}`);
    return {
      number,
      games: selfplay?.games ?? 0,
      positions: selfplay?.positions ?? 0,
      loss: training?.loss ?? null,
      elo: rating?.elo ?? null,
      error: rating?.error ?? null,
      promoted,
    };
  });
}
