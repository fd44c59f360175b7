/**
 * Alpha-beta, tree search and thinking in variations, over any evaluator.
 *
 * @module
 */
export { AlphaBeta, type AlphaBetaLimits, type AlphaBetaOptions } from "./alphabeta/alphabeta.js";
export type { Evaluation, Evaluator } from "./evaluator.js";
export { type Clock, isEndless, type Limits } from "./limits.js";
export { Mcts } from "./mcts/mcts.js";
export { MCTS_OPTIONS, type MctsSettings } from "./mcts/options.js";
export type { MctsReport } from "./mcts/report.js";
export type { RootStatistics } from "./mcts/root.js";
export {
  declareUciOption,
  defaultValues,
  findOption,
  type Option,
  type OptionTable,
  type OptionValues,
  parseOption,
  parseOptionValue,
  parseOptionValues,
} from "./options.js";
export { RolloutEvaluator } from "./rollouts.js";
export type {
  Asking,
  RootMove,
  Search,
  SearchLine,
  SearchReport,
  ThoughtMove,
} from "./search.js";
export { THINK_OPTIONS, type ThinkSettings } from "./think/options.js";
export { sharesOf, Think } from "./think/think.js";
export type { BoardSpeech, Speech, ThoughtWriter, Worth } from "./think/writer.js";
export { allotTime, type OwnClock, stretch, type ThinkingTime, thinkingTime } from "./time.js";
export { UniformEvaluator } from "./uniform.js";
