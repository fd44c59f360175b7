import type { Command } from "./command.js";

/** Every command of the program, in the order of the help; loaded when it is called, so that each starts quickly. */
const FILES: Record<string, () => Promise<{ default: Command }>> = {
  "pgn check": () => import("./pgn-check.js"),
  encode: () => import("./encode.js"),
  "data import": () => import("./data/import.js"),
  "data label": () => import("./data/label.js"),
  "data variations": () => import("./data/variations.js"),
  "data generate": () => import("./data/generate.js"),
  "data info": () => import("./data/info.js"),
  "data check": () => import("./data/check.js"),
  "data convert": () => import("./data/convert.js"),
  "data shuffle": () => import("./data/shuffle.js"),
  "data split": () => import("./data/split.js"),
  "data filter": () => import("./data/filter.js"),
  "data dedupe": () => import("./data/dedupe.js"),
  "data distil": () => import("./data/distil.js"),
  recipes: () => import("./recipes.js"),
  selfplay: () => import("./selfplay.js"),
  train: () => import("./train.js"),
  sweep: () => import("./sweep.js"),
  compare: () => import("./compare.js"),
  report: () => import("./report.js"),
  learn: () => import("./learn.js"),
  worker: () => import("./worker.js"),
  "cluster status": () => import("./cluster-status.js"),
  "cluster simulate": () => import("./cluster-simulate.js"),
  eval: () => import("./eval.js"),
  export: () => import("./export.js"),
  match: () => import("./match.js"),
  tournament: () => import("./tournament.js"),
  puzzles: () => import("./puzzles.js"),
  suite: () => import("./suite.js"),
  agreement: () => import("./agreement.js"),
  play: () => import("./play.js"),
  analyse: () => import("./analyse.js"),
  uci: () => import("./uci.js"),
  "nnue eval": () => import("./nnue-eval.js"),
  perft: () => import("./perft.js"),
  "bench core": () => import("./bench/core.js"),
  "bench data": () => import("./bench/data.js"),
  "bench train": () => import("./bench/train.js"),
  "bench loop": () => import("./bench/loop.js"),
  "bench nnue": () => import("./bench/nnue.js"),
  "bench infer": () => import("./bench/infer.js"),
  "bench decoder": () => import("./bench/decoder.js"),
  "bench moves": () => import("./bench/moves.js"),
  "bench search": () => import("./bench/search.js"),
  "bench mcts": () => import("./bench/mcts.js"),
  "bench arena": () => import("./bench/arena.js"),
  "bench cluster": () => import("./bench/cluster.js"),
  studio: () => import("./studio.js"),
  nets: () => import("./nets.js"),
  doctor: () => import("./doctor.js"),
  tour: () => import("./tour.js"),
};

export const COMMAND_NAMES: readonly string[] = Object.keys(FILES);

/** The command that a command line names; all of them if it names none, for the help and for suggestions. */
export async function loadCommands(argv: readonly string[]): Promise<Command[]> {
  const [first = "", second = ""] = argv.filter((word) => !word.startsWith("-"));
  const named = [`${first} ${second}`, first].find((name) => name in FILES);
  if (named === undefined && argv.includes("--version")) return []; // needs none of them
  const names = named === undefined ? COMMAND_NAMES : [named];
  return Promise.all(names.map(async (name) => (await FILES[name]()).default));
}
