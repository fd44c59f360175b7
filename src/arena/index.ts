/**
 * Matches, tournaments, puzzles and suites: who is stronger, and how sure that is.
 *
 * @module
 */
export { type Adjudication, Adjudicator } from "./adjudication.js";
export {
  Agreement,
  askAbout,
  type CalibrationBin,
  expectedScore,
  type Labelled,
  parseMoveLabels,
} from "./agreement.js";
export { type Contest, distinctNames, playContest } from "./contest.js";
export { type Estimate, eloOfScore, estimate, type Pentanomial, type Score, scoreOfElo } from "./elo.js";
export { type Examination, examine, shareInterval } from "./examine.js";
export { type Conditions, type GameFault, type GameRecord, type PlayedMove, playGame } from "./game.js";
export { GameCount, type GameCountState } from "./game-count.js";
export { type LlrPoint, Match, type MatchState } from "./match.js";
export { builtInBook, fenOfEpd, type Opening, type OpeningBook, parseEpdBook, shuffleBook } from "./openings.js";
export { type ContestGame, gauntlet, listGames, type Pairing, roundRobin } from "./pairing.js";
export { formatRecord, resultOf } from "./pgn.js";
export { PuzzleScore, type RatingBand, solvePuzzle } from "./puzzles.js";
export { type Encounter, type Rating, type Ratings, ratePlayers } from "./ratings.js";
export { ELO_MODELS, type EloModel, SPRT_DEFAULTS, type SprtConfig, type SprtState, sprt, sprtBounds } from "./sprt.js";
export type { Standings } from "./standings.js";
export { gradeMove, parseTask, type SuiteTask, solveTask } from "./suite.js";
export { ChessClock, formatTimeControl, parseTimeControl, type TimeControl } from "./time-control.js";
export { type Ranked, Tournament, type TournamentState } from "./tournament.js";
