export { AlphaBeta, type AlphaBetaOptions } from "./alphabeta/alphabeta.js";
export { allotTime, type OwnClock, stretch } from "./alphabeta/time.js";
export { MATE_FOUND_CP, type Search, type SearchLimits, type SearchLine, type SearchReport } from "./search.js";
