import { basename } from "node:path";
import { UserError } from "#base";
import { playByJobs, playContestByJobs } from "#cluster";
import {
  type Generation,
  type GenerationRow,
  type LearnOptions,
  type LearnState,
  listGenerations,
  loadState,
  parseLearnRecipe,
  rateGenerations,
  runLearning,
} from "#learn";
import { percent } from "#training";
import { CLUSTER_OPTIONS, withTransport } from "./cluster.js";
import { command } from "./command.js";
import { formatCount, formatDuration } from "./progress.js";
import { readRecipe } from "./recipe-files.js";

export default command({
  name: "learn",
  summary: "Let a network learn by playing itself: generation after generation, each tested against the best.",
  details:
    "A recipe says how games are played, what is learned from them and which match must be won; see recipes/learn-*.yaml. The\n" +
    "run's folder keeps the games, metrics, network and matches of every generation. Ctrl-C stops it at once; after that, or\n" +
    "after a kill -9, --resume loses at most the games that were being played. Without a recipe, the table of the run in\n" +
    "--run is shown. docs/learn.md shows how to use it for an evening.",
  examples: [
    "tabiya learn recipes/learn-residual.yaml --run runs/zero --hours 1",
    "tabiya learn recipes/learn-residual.yaml --run runs/zero --resume --generations 40",
    "tabiya learn --run runs/zero",
    "tabiya learn recipes/learn-tiny.yaml --json",
  ],
  arguments: {
    recipe: {
      optional: true,
      help: "YAML file of settings, or the name of a recipe; none: show the run, or resume it with --resume",
    },
  },
  options: {
    run: { help: "folder for everything it writes (default: runs/ and the recipe's name)" },
    resume: { type: "boolean", help: "resume the run in that folder" },
    generations: { type: "integer", minimum: 1, help: "generations in all, instead of the recipe's" },
    hours: { type: "number", minimum: 0, help: "stop after this many hours; continue with --resume" },
    ...CLUSTER_OPTIONS,
  },

  async run({ recipe: file, run, resume, generations, hours, cluster, store }, io) {
    if (file === undefined && run === undefined)
      throw new UserError("RECIPE_MISSING", "Name a recipe, as recipes/learn-residual.yaml, or a run with --run.");
    const folder = run ?? `runs/${basename(file ?? "").replace(/\.ya?ml$/, "")}`;
    if (file === undefined) {
      const state = await loadState(folder);
      if (!state)
        throw new UserError("RUN_MISSING", `${folder}: holds no run. Begin one: tabiya learn RECIPE --run ${folder}`);
      if (!resume) return show(state, io.print);
    }
    const recipe = file === undefined ? undefined : parseLearnRecipe(await readRecipe(file), file);
    const advice = `Resume it with: tabiya learn --run ${folder} --resume`;
    io.note(`everything is kept in ${folder}`);
    const options: LearnOptions = { run: folder, recipe, resume, generations, hours, signal: io.signal };
    const state = await withTransport({ cluster, store }, io, (transport) =>
      runLearning({
        ...options,
        play: playByJobs(transport),
        playMatch: cluster === undefined ? undefined : playContestByJobs(transport),
        onProgress: (generation, progress) => io.progress(describeProgress(generation, progress)),
        onPhase(state, generation) {
          const line = describePhase(generation);
          if (line !== undefined) io.note(line);
          if (generation.phase === "done") io.note(formatRow(listGenerations(state)[generation.number - 1]));
        },
      }),
    ).catch((error: unknown) => {
      if (io.signal.aborted) io.note(`Stopped and saved. ${advice}`);
      if (error instanceof UserError && error.code === "RUN_EXISTS")
        throw new UserError(error.code, `${error.message}\n${advice}`);
      throw error;
    });
    if (state.generations.at(-1)?.phase !== "done") io.note(`The time is up; everything is saved. ${advice}`);
    return show(state, io.print);
  },
});

function describeProgress(
  { number, parent }: Readonly<Generation>,
  progress: Parameters<NonNullable<LearnOptions["onProgress"]>>[1],
): string {
  if ("selfplay" in progress) {
    const { games, positions } = progress.selfplay;
    return `generation ${number}: self-play of generation ${parent}, ${games} games, ${formatCount(positions)} positions`;
  }
  if ("train" in progress) {
    const { step, steps, loss } = progress.train;
    return `generation ${number}: training, step ${step} of ${steps}, loss ${loss.toFixed(3)}`;
  }
  const { opponent, wins, draws, losses } = progress.match;
  return `generation ${number}: against ${opponent}, +${wins} =${draws} -${losses}`;
}

/** What the phase that has just ended came to. */
function describePhase({ number, phase, selfplay, training, gate, promoted, seconds }: Readonly<Generation>) {
  const took = (of: keyof typeof seconds) => `in ${formatDuration(seconds[of] ?? 0)}`;
  switch (phase) {
    case "train": {
      if (!selfplay) return undefined;
      const { games, positions, plies, wins, losses, cut } = selfplay;
      const decided = `${percent((wins + losses) / games)} decided, ${percent(cut / games)} cut off`;
      return `generation ${number}: ${games} games of ${(plies / games).toFixed(0)} plies ${took("selfplay")}, ${positions} positions, ${decided}`;
    }
    case "gate":
      return training
        ? `generation ${number}: ${training.steps} steps, loss ${training.loss.toFixed(4)}, ${took("train")}`
        : `generation ${number}: too few positions to learn from yet`;
    case "ladder":
      if (!gate) return undefined;
      return `generation ${number}: against ${gate.opponent} +${gate.wins} =${gate.draws} -${gate.losses}, ${promoted ? "promoted" : "not promoted"}, ${took("gate")}`;
    default:
      return undefined;
  }
}

const COLUMNS = ["generation", "games", "positions", "loss", "elo", "error", "promoted"] as const;
const cells = ({ number, games, positions, loss, elo, error, promoted }: GenerationRow): string[] => [
  String(number),
  String(games),
  String(positions),
  loss?.toFixed(4) ?? "-",
  elo?.toFixed(0) ?? "-",
  error?.toFixed(0) ?? "-",
  promoted ? "yes" : "no",
];
const align = (texts: readonly string[]): string => texts.map((text) => text.padStart(10)).join("  ");
const formatRow = (row: GenerationRow): string => {
  const [, , , , elo, error] = cells(row);
  return `generation ${row.number}: Elo ${elo} +- ${error} over the first network`;
};

/** Prints the table of a run; its ladder below. */
function show(state: LearnState, print: (text: string) => void) {
  const generations = listGenerations(state);
  print(align(COLUMNS));
  for (const row of generations) print(align(cells(row)));
  const ratings = [...rateGenerations(state)].filter(([name]) => !/^generation [1-9]/.test(name));
  if (ratings.length > 0) {
    print("\nElo of the ladder, by all games; the first network is 0:");
    for (const [name, { elo, error }] of ratings)
      print(`${align([elo.toFixed(0), error?.toFixed(0) ?? "-"])}  ${name}`);
  }
  return { generations, best: state.best, recipe: state.recipe };
}
