/**
 * Players: networks and engines that choose moves, and UCI from both sides.
 *
 * @module
 */
export { type AlphaBetaEngine, createAlphaBeta, loadNnue } from "./alphabeta-engine.js";
export { BENCH_DEPTH, type BenchResult, runBench } from "./bench.js";
export { type EvaluatorOptions, openEvaluator } from "./evaluators/open.js";
export { openNetwork } from "./evaluators/policy.js";
export { nnueOf, PLAYING_FAMILIES, type PlayingFamily, quickSearchOf, SEARCHES, type SearchName } from "./families.js";
export { type NetworkFile, readNetworkFile } from "./network-file.js";
export {
  type ByMove,
  type Choice,
  FAULTS,
  type FaultKind,
  type Line,
  type Player,
  PlayerFault,
  type Report,
  type ThoughtMove,
} from "./player.js";
export {
  checkPlayer,
  type NetworkSpec,
  type PlayerOptions,
  type PlayerSpec,
  parsePlayer,
  resolvePlayer,
  type UciSpec,
} from "./players.js";
export { ELO_RANGE, type Strength, strengthOf } from "./strength.js";
export { runUci, type UciOptions } from "./uci.js";
export { type UciAnswer, UciClient, type UciTimes } from "./uci-client.js";
export { UciPlayer } from "./uci-player.js";
