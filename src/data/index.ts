/**
 * Training data: importing, labelling, filtering, splitting, self-play, contests with files.
 *
 * @module
 */
export { type AskElsewhere, answerPositions } from "./ask.js";
export { loadBook } from "./book.js";
export { type CheckCounts, RecordChecker } from "./check-records.js";
export type { ContestEvent, ContestState, FaultCount, GameLabel } from "./contest/events.js";
export { GameList, type ListedGame } from "./contest/game-list.js";
export { type FinishedGame, type GameStore, type Held, MemoryStore, type SavedGame } from "./contest/game-store.js";
export { PgnStore } from "./contest/pgn-store.js";
export {
  type ContestOptions,
  type ContestResult,
  type ContestWork,
  isTimed,
  type PlayContest,
  playHere,
  runContest,
  withoutTimes,
} from "./contest/run.js";
export { type ContestInput, type ContestSpec, parseContest } from "./contest/spec.js";
export {
  type ContestPhase,
  type ContestStatus,
  type LiveGame,
  loadContestStatus,
  newStatus,
  STATUS_SUFFIX,
  StatusWriter,
  saveContestStatus,
  statusPath,
} from "./contest/status-file.js";
export { canConvert, convertRecord, findMoveTable } from "./convert.js";
export { Dataset, type PgnOptions, type SelfPlayOptions } from "./dataset.js";
export { type DedupeOptions, dedupeRecords } from "./dedupe.js";
export { type DistilOptions, type DistilResult, distilRecords } from "./distil.js";
export { type DistilGamesOptions, type DistilGamesResult, distilGames } from "./distil-games.js";
export { FactReader, type MoveKind } from "./facts.js";
export { parseChoices, parseResults, TIME_CLASSES } from "./filter.js";
export {
  BULLET_FILTER,
  type FilterResult,
  filterRecords,
  type Range,
  type RecordFilter,
  refuseRecord,
} from "./filter-records.js";
export { IMPORT_KINDS } from "./game-importer.js";
export { formatHistogram, formatKingSquares, Histograms } from "./histogram.js";
export { type ImportOptions, type ImportResult, importGames } from "./import.js";
export { type Inspection, inspectData, type PlayerCount, warnBeforeTraining } from "./inspect.js";
export { checkLabelOutput, type LabelOptions, type LabelResult, labelPositions, labelQuestion } from "./label.js";
export { findMistakes, type JudgedPosition, type MistakeOptions } from "./mistakes.js";
export type { SelfPlayGame } from "./selfplay/game.js";
export type { SelfPlayCounts } from "./selfplay/game-journal.js";
export { type PlayGames, runSelfPlay, type SelfPlayResult, type SelfPlayRunOptions } from "./selfplay/run.js";
export { openSelfPlayer, type SelfPlayer } from "./selfplay/self-player.js";
export { parseSelfPlay, type SelfPlayInput, type SelfPlaySpec } from "./selfplay/spec.js";
export { openSets, type SetOptions } from "./sets.js";
export { shuffleRecords } from "./shuffle.js";
export { SPLIT_BY, splitRecords, validationPath } from "./split.js";
export { type Variation, type VariationOptions, variationQuestion, writeVariations } from "./variations.js";
