// The characters that PGN is made of, and its fixed words as the numbers they are when read at once (little-endian).
export const TAB: u8 = 0x09;
export const NEWLINE: u8 = 0x0a;
export const RETURN: u8 = 0x0d;
export const SPACE: u8 = 0x20;
export const BANG: u8 = 0x21; // !
export const QUOTE: u8 = 0x22; // "
export const HASH: u8 = 0x23; // #
export const DOLLAR: u8 = 0x24; // $
export const PERCENT: u8 = 0x25; // %
export const OPEN_PAREN: u8 = 0x28; // (
export const CLOSE_PAREN: u8 = 0x29; // )
export const STAR: u8 = 0x2a; // *
export const PLUS: u8 = 0x2b; // +
export const COMMA: u8 = 0x2c; // ,
export const MINUS: u8 = 0x2d; // -
export const DOT: u8 = 0x2e; // .
export const SLASH: u8 = 0x2f; // /
export const ZERO: u8 = 0x30; // 0
export const COLON: u8 = 0x3a; // :
export const SEMICOLON: u8 = 0x3b; // ;
export const EQUALS: u8 = 0x3d; // =
export const QUESTION: u8 = 0x3f; // ?
export const CAPITAL_M: u8 = 0x4d; // M
export const OPEN_BRACKET: u8 = 0x5b; // [
export const BACKSLASH: u8 = 0x5c; // \
export const CLOSE_BRACKET: u8 = 0x5d; // ]
export const UNDERSCORE: u8 = 0x5f; // _
export const LOWER_A: u8 = 0x61; // a
export const LOWER_E: u8 = 0x65; // e
export const OPEN_BRACE: u8 = 0x7b; // {
export const CLOSE_BRACE: u8 = 0x7d; // }

export const EVENT_TAG: u64 = 0x2220746e6576455b; // [Event "
export const COMMAND: u16 = 0x255b; // [%
export const EVAL: u32 = 0x6c617665; // eval
export const CLK: u32 = 0x6b6c63; // clk
export const WHITE_WINS: u32 = 0x302d31; // 1-0
export const BLACK_WINS: u32 = 0x312d30; // 0-1
export const HALF: u32 = 0x322f31; // 1/2
export const MINUS_HALF: u32 = 0x322f312d; // -1/2
export const DOT_P: u16 = 0x702e; // .p
export const NULL_DASHES: u16 = 0x2d2d; // --
export const NULL_Z0: u16 = 0x305a; // Z0
export const MARK_FIRST: u8 = 0xef; // of the byte order mark, three bytes of UTF-8
export const MARK_REST: u16 = 0xbfbb;

// In lower case.
export const STANDARD: u64 = 0x647261646e617473;
export const NORMAL: u64 = 0x6c616d726f6e;
export const CHESS: u64 = 0x7373656863;
export const FROM: u64 = 0x6d6f7266;
export const RESULT: u64 = 0x746c75736572;
export const FEN: u64 = 0x6e6566;
export const VARIANT: u64 = 0x746e6169726176;
export const EP: u64 = 0x7065;
export const POSITION: u64 = 0x6e6f697469736f70;
