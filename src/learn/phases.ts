import type { MatchState } from "#arena";
import { makeFolder, mixSeed, Random, readBytes, removeFile, removeFolder, replaceFolder, writeFile } from "#base";
import { PgnStore, type PlayContest, type PlayGames, runContest, runSelfPlay, type SelfPlayCounts } from "#data";
import { FAMILIES, findWeights, loadNetwork, networkBytes } from "#models";
import { resolveRecipe, type StepReport, taskOf, train } from "#training";
import { gamesFile, type LearnRecipe, matchOf, playerOf, selfPlayOf } from "./recipe.js";
import { type Encountered, type Generation, generationFolder, type LearnState, networkFolder } from "./state.js";

/** What the phases of a generation work with. */
export interface Work {
  run: string;
  state: LearnState;
  generation: Generation;
  signal: AbortSignal;
  play?: PlayGames;
  playMatch?: PlayContest;
  onProgress(text: { selfplay: SelfPlayCounts } | { train: StepReport } | { match: Encountered }): void;
}

const seedOf = ({ state, generation }: Work, ...more: number[]): number =>
  mixSeed(state.recipe.seed, generation.number, ...more) & 0x7fff_ffff;

const gamesOf = ({ run, state }: Work, number: number): string =>
  `${generationFolder(run, number)}/${gamesFile(state.recipe)}`;

/** Makes the network that everything begins with: random weights, or those of a checkpoint. */
export async function makeFirst(run: string, { train: settings, seed }: LearnRecipe): Promise<void> {
  const { train: config, model } = resolveRecipe(settings, "train");
  const { family, network } =
    config.start === ""
      ? { family: config.family, network: FAMILIES[config.family].build(model, new Random(seed)) }
      : await loadNetwork(await findWeights(config.start));
  await saveNetwork(networkFolder(run, 0), networkBytes(family, network));
}

const saveNetwork = async (folder: string, bytes: Uint8Array): Promise<void> => {
  await makeFolder(folder.replace(/\/[^/]*$/, ""));
  await replaceFolder(folder, (to) => writeFile(`${to}/model.safetensors`, bytes));
};

/** The best network plays itself. The journal of the games goes once the state knows of them: see `forgetGames`. */
export async function playGames(work: Work): Promise<SelfPlayCounts> {
  const { run, state, generation, signal, play, onProgress } = work;
  await makeFolder(generationFolder(run, generation.number));
  const spec = selfPlayOf(state.recipe, networkFolder(run, state.best), seedOf(work));
  const { seconds: _, ...counts } = await runSelfPlay(spec, gamesOf(work, generation.number), {
    signal,
    play,
    keepGames: true,
    onProgress: (selfplay) => onProgress({ selfplay }),
  });
  return counts;
}

export const forgetGames = (work: Work): Promise<void> => removeFile(`${gamesOf(work, work.generation.number)}.games`);

/** Learns from the games of the window; undefined while there are too few positions. */
export async function learnGames(work: Work): Promise<Generation["training"]> {
  const { run, state, generation, signal, onProgress } = work;
  const { replay, train: settings } = state.recipe;
  const shown = state.generations.filter(({ number }) => number > generation.number - replay.window);
  const positions = shown.reduce((sum, { selfplay }) => sum + (selfplay?.positions ?? 0), 0);
  if (positions < Math.max(1, replay.minimum)) return undefined;
  const wanted = Math.ceil(Math.min(replay.reuse * state.fresh, replay.reuse * positions));
  const recipe = resolveRecipe(
    {
      schedule: "constant",
      warmupSteps: 0,
      ...settings,
      start: networkFolder(run, state.latest),
      epochs: 1,
      epochPositions: wanted,
      seed: seedOf(work),
    },
    "train",
  );
  const { train: config } = recipe;
  const task = taskOf(config.family);
  const files = shown.filter(({ selfplay }) => selfplay && selfplay.positions > 0);
  const folder = `${generationFolder(run, generation.number)}/train`;
  const data = await task.open(
    files.map(({ number }) => gamesOf(work, number)),
    recipe,
  );
  // An epoch of the loop is at most all of the data once: several make up what is wanted.
  const epochs = Math.max(1, Math.ceil(wanted / data.positions));
  const each = { ...config, epochs, epochPositions: Math.min(data.positions, Math.ceil(wanted / epochs)) };
  const trained = await train(
    { ...recipe, train: { ...each, saveEpochs: epochs } },
    { run: folder, data, resume: true, signal, now: Date.now, onProgress: (report) => onProgress({ train: report }) },
  ).finally(() => data.close());
  if (trained.stopped === "interrupted") throw signal.reason;
  const last = `${folder}/epoch_${String(epochs).padStart(3, "0")}`;
  await saveNetwork(networkFolder(run, generation.number), await readBytes(await findWeights(last)));
  const loss = trained.history[trained.history.length - 1].train.loss;
  return { positions: trained.steps * config.batchSize * config.accumulate, steps: trained.steps, loss };
}

/** The checkpoints of a training whose network is kept. */
export async function forgetTraining({ run, generation }: Work): Promise<void> {
  const folder = `${generationFolder(run, generation.number)}/train`;
  const { epochs } = JSON.parse(new TextDecoder().decode(await readBytes(`${folder}/config.json`))) as {
    epochs: number;
  };
  await removeFolder(`${folder}/best`);
  await removeFolder(`${folder}/epoch_${String(epochs).padStart(3, "0")}`);
}

/** The generation's network against somebody; stopped and resumed as a match of its own. */
async function meet(
  work: Work,
  opponent: { name: string; player: string },
  file: string,
  test: { games: number; sprt?: { elo0: number; elo1: number } },
  seed: number,
): Promise<Encountered> {
  const { run, state, generation, signal, playMatch, onProgress } = work;
  const { recipe } = state;
  const own = playerOf(recipe, networkFolder(run, generation.number), recipe.match.nodes);
  const store = new PgnStore(`${generationFolder(run, generation.number)}/${file}`, { resume: true });
  const told = (match: MatchState): Encountered => ({
    opponent: opponent.name,
    wins: match.wins,
    draws: match.draws,
    losses: match.losses,
    pentanomial: match.pentanomial,
    elo: match.elo,
    error: match.error,
    ...(match.sprt && { test: match.sprt.result }),
  });
  const spec = matchOf(recipe, [own, opponent.player], test, seed);
  const result = await runContest(spec, {
    play: playMatch,
    store,
    signal,
    onEvent: (event) => event.type === "state" && onProgress({ match: told(event.state as MatchState) }),
  });
  return told(result as ContestMatch);
}

type ContestMatch = Extract<Awaited<ReturnType<typeof runContest>>, MatchState>;

const generationPlayer = ({ run, state: { recipe } }: Work, number: number) => ({
  name: `generation ${number}`,
  player: playerOf(recipe, networkFolder(run, number), recipe.match.nodes),
});

/** Against the best so far: whoever wins plays the next games. */
export async function passGate(work: Work): Promise<Encountered | undefined> {
  const { games, elo0, elo1 } = work.state.recipe.gate;
  if (games === 0) return undefined;
  return meet(
    work,
    generationPlayer(work, work.state.best),
    "gate.pgn",
    { games, sprt: { elo0, elo1 } },
    seedOf(work, 1),
  );
}

/** A test that was not decided in time is decided by the points. */
export const hasPassed = (gate: Encountered | undefined): boolean =>
  !gate || gate.test === "H1" || (gate.test === "undecided" && gate.wins > gate.losses);

/** Against the first network, and against players that never change. */
export async function climbLadder(work: Work): Promise<Encountered[]> {
  const { players, games } = work.state.recipe.ladder;
  const opponents = [generationPlayer(work, 0), ...players.map((player) => ({ name: player, player }))];
  const met: Encountered[] = [];
  if (games === 0) return met;
  for (const [i, opponent] of opponents.entries())
    met.push(await meet(work, opponent, `ladder-${i}.pgn`, { games }, seedOf(work, 2, i)));
  return met;
}
