// What scores mean: centipawns for the side to move. src/chess/score.ts has the same numbers, a test compares them.

/** A mate in n plies is MATE_CP - n, being mated in n plies is n - MATE_CP. */
export const MATE_CP: i32 = 32000;
/** No evaluation is higher; every score beyond is a mate. */
export const HIGHEST_CP: i32 = 30000;
