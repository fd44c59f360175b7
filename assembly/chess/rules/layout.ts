// Where things are in a position and in a training record. src/chess/layout.ts has the same numbers, a test compares them.
//
// A position is 160 bytes at an address `p`, so that copying one is ten vector moves:
//
//   0  u64 x 6  squares of the pawns, knights, bishops, rooks, queens, kings of both colours
//  48  u64 x 2  squares of White, of Black
//  64  u8 x 64  what stands on each square: 0 nothing, else role 1..6 (P N B R Q K) | colour << 3
// 128  u64      Zobrist key
// 136  u8       castling rights: 1 White short, 2 White long, 4 Black short, 8 Black long
// 137  u8       en-passant square, set only if a capture there is legal; else 64
// 138  u8       side to move: 0 White, 1 Black
// 139  u8       1 if castling is spelled king takes rook (Chess960); the rules are the same
// 140  u16      plies since the last capture or pawn move
// 142  u16      number of the move, from 1
// 144  u8 x 4   where the castling rooks started, in the order of the rights
// 148  4 bytes  unused, zero
// 152  u64      squares of the kings and rooks that may still castle: a move from or to one of them changes the rights
export const POSITION_BYTES: i32 = 160;
export const COLORS_AT: usize = 48;
export const MAILBOX_AT: usize = 64;
export const KEY_AT: usize = 128;
export const RIGHTS_AT: usize = 136;
export const EP_AT: usize = 137;
export const SIDE_AT: usize = 138;
export const CHESS960_AT: usize = 139;
export const HALFMOVES_AT: usize = 140;
export const FULLMOVES_AT: usize = 142;
export const ROOKS_AT: usize = 144;
export const CASTLERS_AT: usize = 152;
export const NO_SQUARE: i32 = 64;
/** Four times NO_SQUARE: no rook may castle. */
export const NO_ROOKS: u32 = 0x40404040;

/** No position has more legal moves than 218; a list of 256 moves of 2 bytes is always long enough. */
export const MOVE_LIST_BYTES: i32 = 512;

// A training record is Stockfish's PackedSfenValue, docs/formats/bin.md: the packed position, then
//  32  i16  score for the side to move     34  u16  move     36  u16  ply     38  i8  result for the side to move
//  39  u8   0xff
export const RECORD_BYTES: i32 = 40;
export const RECORD_SCORE_AT: usize = 32;
export const RECORD_MOVE_AT: usize = 34;
export const RECORD_PLY_AT: usize = 36;
export const RECORD_RESULT_AT: usize = 38;
