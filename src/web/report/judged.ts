import type { Calibrated } from "#base";
import { findMistakes, type JudgedPosition, openSets } from "#data";
import { quickSearchOf, resolvePlayer } from "#engine";
import { findWeights, loadNetwork } from "#models";
import { type Judgement, resolveRecipe, settingsOf, taskOf } from "#training";
import type { RunFacts } from "./compare.js";

type Run = Pick<RunFacts, "path" | "config">;

interface Options {
  home?: string; // the folder that the paths of its data begin in
  signal?: AbortSignal;
}

/** The files a run is judged by: of games it has not seen, or else those it learns from. */
async function judgingFiles({ path, config }: Run, { home, signal }: Options) {
  const isUnseen = Array.isArray(config.validation) && config.validation.length > 0;
  const sets = (isUnseen ? config.validation : config.data) as string[];
  const resultShare = Number(config.resultShare ?? 0);
  const options = {
    folder: `${path}/data`,
    within: home, // as the training saw them: what it made of games is used again
    role: isUnseen ? "judge" : "learn",
    resultShare,
    note() {},
    signal,
  } as const;
  const files = await openSets(sets, options);
  return { files, isUnseen };
}

/** Positions of the data beside what a checkpoint says of them, the worst first. */
export async function judgePositions(
  run: Run,
  checkpoint: string,
  options: Options & { sample: number },
): Promise<{ file: string; isUnseen: boolean; positions: JudgedPosition[] }> {
  const { config } = run;
  const {
    files: [file],
    isUnseen,
  } = await judgingFiles(run, options);
  const player = await resolvePlayer(`${checkpoint}@${quickSearchOf(String(config.family))}`);
  try {
    const positions = await findMistakes(player, file, {
      sample: options.sample,
      resultShare: Number(config.resultShare ?? 0),
      scoreScale: Number(config.scoreScale ?? 400),
      signal: options.signal,
    });
    return { file, isUnseen, positions };
  } finally {
    await player.close();
  }
}

/** What a checkpoint is worth on the data it is judged by, with its calibration where its family has one. */
export async function judgeCheckpoint(
  run: Run,
  checkpoint: string,
  { limit, ...options }: Options & { limit: number },
): Promise<Judgement & Partial<Calibrated>> {
  const { family, network } = await loadNetwork(await findWeights(checkpoint));
  const task = taskOf(family);
  const recipe = resolveRecipe({ ...settingsOf(run.config), ...network.config }, run.path);
  const source = await task.open((await judgingFiles(run, options)).files, recipe, limit);
  const batchSize = Math.min(recipe.train.batchSize, limit);
  try {
    return await task.judge(network, source, recipe, { batchSize, signal: options.signal });
  } finally {
    await source.close();
  }
}
