// Where things are in the core's struct of a position and in a training record: bytes from its beginning. The struct is
// described in assembly/chess/rules/layout.ts, which has the same numbers; a test compares them.
export const POSITION_BYTES = 160;
export const COLORS_AT = 48; // squares of White, of Black, 8 bytes each
export const MAILBOX_AT = 64; // 0 nothing, else role 1..6 | colour << 3
export const KEY_AT = 128; // 8 bytes
export const RIGHTS_AT = 136; // 1 White short, 2 White long, 4 Black short, 8 Black long
export const EP_AT = 137; // a square, or NO_SQUARE
export const SIDE_AT = 138; // 0 White, 1 Black
export const CHESS960_AT = 139; // 1 if castling is spelled king takes rook
export const HALFMOVES_AT = 140; // 2 bytes
export const FULLMOVES_AT = 142; // 2 bytes
export const ROOKS_AT = 144; // where the castling rooks started, in the order of the rights
export const CASTLERS_AT = 152; // squares of the kings and rooks that may still castle, 8 bytes
export const NO_SQUARE = 64;

/** Room for the moves of any position, 2 bytes each. */
export const MOVE_LIST_BYTES = 512;

/** A record of a .bin file, docs/formats/bin.md: the packed position in 32 bytes, then the rest. */
export const RECORD_BYTES = 40;
export const RECORD_SCORE_AT = 32; // 2 bytes, signed
export const RECORD_MOVE_AT = 34; // 2 bytes
export const RECORD_PLY_AT = 36; // 2 bytes
export const RECORD_RESULT_AT = 38; // 1 byte, signed
