// Reads games in PGN from bytes in memory: splits text into tags, moves, comments and results, resolves every move of the
// main line and plays it. One call reads one game and appends what it found to arrays of the caller, so that nothing
// crosses into JavaScript move by move. src/formats/games/block.ts holds the other side of the layouts below.
//
// The reader, words of 32 bits at `r`:
//   0 game      where the next game's entry goes       24 evals    base of the i16 per slot
//   4 tag       where its tags go                      28 clocks   base of the i32 per slot
//   8 tagLimit                                         32 note     where its notes go
//  12 slot      number of its first slot               36 noteLimit
//  16 slotLimit                                        40 start    its position before the first move (160 bytes)
//  20 moves     base of the u16 per slot               44 usual    the usual starting position
//                                                      48 scratch  a position and a list of moves
//
// A game has a slot for every position: slot 0 is the start, slot n is after n plies. The move in a slot led to it; the
// eval and the clock were written after that move (those of slot 0 before the first move).
//
// A game's entry, words: 0 text, 1 text's end, 2 first tag (address), 3 tags, 4 first slot, 5 plies, 6 first note
// (address), 7 notes, 8 result (0 * 1 1-0 2 0-1 3 1/2-1/2), 9 flags, 10 error, 11 its address, 12 its length, 13 plies before it.
// The caller uses 14 and 15.
// A tag, words: name, length, value, length | 1 << 31 if the value has backslashes.
// A note, words: kind << 24 | ply, address or NAG, length.
import {
  TAB, NEWLINE, RETURN, SPACE, BANG, QUOTE, HASH, DOLLAR, PERCENT, OPEN_PAREN, CLOSE_PAREN, STAR, PLUS, COMMA, MINUS,
  DOT, SLASH, ZERO, COLON, SEMICOLON, EQUALS, QUESTION, CAPITAL_M, OPEN_BRACKET, BACKSLASH, CLOSE_BRACKET,
  UNDERSCORE, LOWER_A, LOWER_E, OPEN_BRACE, CLOSE_BRACE, EVENT_TAG, COMMAND, EVAL, CLK, WHITE_WINS, BLACK_WINS, HALF,
  MINUS_HALF, DOT_P, NULL_DASHES, NULL_Z0, MARK_FIRST, MARK_REST, STANDARD, NORMAL, CHESS, FROM, RESULT, FEN,
  VARIANT, EP, POSITION,
} from "./characters";
import { POSITION_BYTES } from "../rules/layout";
import { readFen } from "../rules/fen";
import { copyPosition, play, side } from "../rules/position";
import { parseSan, SAN_AMBIGUOUS, SAN_ILLEGAL, SAN_UNREADABLE } from "../rules/san";
import { HIGHEST_CP, MATE_CP } from "../rules/score";

// What readGame returns.
const GAME: i32 = 0; // an entry was written
const MORE: i32 = 1; // the text ends inside a game: call again when more of it is there
const NEEDS_START: i32 = 2; // an unusual FEN or Variant tag: put the position at `start` and call again, mode PLAY or SKIP
const FULL: i32 = 3; // an array of the caller is full
const NOTHING: i32 = 4; // no game before the end of the text

const FIRST: i32 = 0; // modes of the call
const SKIP: i32 = 2;

const FLAG_NO_RESULT: i32 = 1;

const UNREADABLE: i32 = 1; // errors
const ILLEGAL: i32 = 2;
const AMBIGUOUS: i32 = 3;
const NULL_MOVE: i32 = 4;
const OPEN_COMMENT: i32 = 5;
const OPEN_VARIATION: i32 = 6;
const BAD_TAG: i32 = 7;

const NOTE_COMMENT: i32 = 1;
const NOTE_NAG: i32 = 2;
const NOTE_VARIATION: i32 = 3;

const NOTE_BYTES: usize = 12;
const LONGEST_GAME: i32 = 0xffff; // plies, so that a note can hold one

const NO_EVAL: i32 = -32768;

// What helpers return instead of an address.
const RAN_OUT: usize = 0;
const BROKEN: usize = 1;

// White space; also NUL and Ctrl-Z (1a), which old programs and damaged disks leave in texts.
const SPACES: u64 = 0x00000001_04003e01;
// Characters that end a move: white space ( ) * , . ; < > and [ ] { } $
const ENDS_LOW: u64 = 0x58005710_00000000 | SPACES;
const ENDS_HIGH: u64 = (<u64>1 << 27) | (<u64>1 << 29) | (<u64>1 << 59) | (<u64>1 << 61);

@inline
function endsToken(char: i32): bool {
  if (char & 0x80) return false;
  return (((char & 64 ? ENDS_HIGH : ENDS_LOW) >> (char & 63)) & 1) != 0;
}

@inline
function isDigit(char: i32): bool {
  return <u32>(char - ZERO) < 10;
}

@inline
function isLetter(char: i32): bool {
  return <u32>((char | 32) - LOWER_A) < 26;
}

@inline
function isSpace(char: i32): bool {
  return char <= 32 && ((SPACES >> char) & 1) != 0;
}

/** Whether the text at an address is this word of at most 8 letters, of any case, given in lower case. */
@inline
function isWord(at: usize, length: i32, word: u64, wordLength: i32): bool {
  if (length != wordLength) return false;
  let found: u64 = 0;
  for (let i = 0; i < length; i++) found |= <u64>(load<u8>(at + i) | 32) << (i << 3);
  return found == word;
}

/** Whether `[Event "` stands at the address: the next game begins, whatever was left open. */
function isEvent(at: usize, end: usize): bool {
  return at + 8 <= end && load<u64>(at) == EVENT_TAG;
}

/** Where the value of a tag begins if the `[` at an address looks like one; else BROKEN, or RAN_OUT. */
function findTagValue(from: usize, end: usize): usize {
  let at = from + 1;
  while (at < end && (isLetter(load<u8>(at)) || isDigit(load<u8>(at)) || load<u8>(at) == UNDERSCORE)) at++;
  if (at < end && at == from + 1) return BROKEN;
  while (at < end && load<u8>(at) == SPACE) at++;
  if (at >= end) return RAN_OUT;
  return load<u8>(at) == QUOTE ? at : BROKEN;
}

/** The `[` of the next line that looks like a tag, or RAN_OUT. */
function findTagLine(from: usize, end: usize): usize {
  for (let at = from; at + 1 < end; at++) {
    if (load<u8>(at) == NEWLINE && load<u8>(at + 1) == OPEN_BRACKET && findTagValue(at + 1, end) > BROKEN) return at + 1;
  }
  return RAN_OUT;
}

/** The line ends in a text. */
export function countLines(from: usize, end: usize): i32 {
  let count = 0;
  let at = from;
  const newline = i8x16.splat(10);
  for (; at + 16 <= end; at += 16) count += popcnt(i8x16.bitmask(i8x16.eq(v128.load(at), newline)));
  for (; at < end; at++) count += i32(load<u8>(at) == NEWLINE);
  return count;
}

/** Reads a tag pair that begins with `[` into an entry and returns the address after it. */
function readTag(from: usize, end: usize, entry: usize): usize {
  let at = from + 1;
  while (at < end && isSpace(load<u8>(at))) at++;
  const name = at;
  while (at < end && !isSpace(load<u8>(at)) && load<u8>(at) != QUOTE && load<u8>(at) != CLOSE_BRACKET) at++;
  const nameLength = <i32>(at - name);
  while (at < end && isSpace(load<u8>(at))) at++;
  if (at >= end) return RAN_OUT;
  if (nameLength == 0 || load<u8>(at) != QUOTE) return BROKEN;
  const value = ++at;
  let escaped = 0;
  for (; at < end; at++) {
    const char = <i32>load<u8>(at);
    if (char == NEWLINE || char == RETURN) return BROKEN;
    if (char == BACKSLASH) {
      escaped = 1 << 31;
      if (at + 1 < end && (load<u8>(at + 1) == QUOTE || load<u8>(at + 1) == BACKSLASH)) at++;
    } else if (char == QUOTE) {
      // A quote inside the value that nobody escaped is not followed by the closing bracket.
      let next = at + 1;
      while (next < end && (load<u8>(next) == SPACE || load<u8>(next) == TAB)) next++;
      if (next >= end) return RAN_OUT;
      const after = <i32>load<u8>(next);
      if (after != CLOSE_BRACKET && after != NEWLINE && after != RETURN) continue;
      store<u32>(entry, <u32>name);
      store<u32>(entry, nameLength, 4);
      store<u32>(entry, <u32>value, 8);
      store<u32>(entry, <i32>(at - value) | escaped, 12);
      return after == CLOSE_BRACKET ? next + 1 : next;
    }
  }
  return RAN_OUT;
}

/**
 * The `}` of a comment. Where the comment goes on past what begins a game, it was never closed; unless a `}` follows before
 * the next `{` and the next game, for then somebody quotes a game.
 */
function findCommentEnd(from: usize, end: usize): usize {
  let games = 0;
  for (let at = from; at < end; at++) {
    const char = <i32>load<u8>(at);
    if (char == CLOSE_BRACE) return at;
    if (char == OPEN_BRACE && games) return BROKEN;
    if (char == NEWLINE && isEvent(at + 1, end) && ++games > 1) return BROKEN;
  }
  return RAN_OUT;
}

/** The end of the line, or of the text. */
function findLineEnd(from: usize, end: usize): usize {
  let at = from;
  while (at < end && load<u8>(at) != NEWLINE && load<u8>(at) != RETURN) at++;
  return at;
}

/** The `]` of a bracket that begins no tag, if it stands on the same line; else the bracket itself, or RAN_OUT. */
function findBracketEnd(from: usize, end: usize): usize {
  for (let at = from + 1; at < end; at++) {
    const char = <i32>load<u8>(at);
    if (char == CLOSE_BRACKET) return at;
    if (char == NEWLINE || char == RETURN) return from;
  }
  return RAN_OUT;
}

/** The `)` that closes a variation. */
function findVariationEnd(from: usize, end: usize): usize {
  let depth = 1;
  for (let at = from; at < end; at++) {
    const char = <i32>load<u8>(at);
    if (char == OPEN_BRACE) {
      at = findCommentEnd(at + 1, end);
      if (at <= BROKEN) return at;
    } else if (char == OPEN_PAREN) depth++;
    else if (char == CLOSE_PAREN) {
      if (--depth == 0) return at;
    } else if (char == SEMICOLON || (char == PERCENT && load<u8>(at - 1) == NEWLINE)) {
      at = findLineEnd(at, end) - 1;
    } else if (char == NEWLINE && isEvent(at + 1, end)) return BROKEN;
  }
  return RAN_OUT;
}

/** Reads "0.17", "-1.5", "#-3" or "-M3", perhaps followed by ",depth": White's view. NO_EVAL if it is none of these. */
function parseEval(from: usize, end: usize, turn: i32): i32 {
  let at = from;
  let negative = false;
  let mate = false;
  for (; at < end; at++) {
    const char = <i32>load<u8>(at);
    if (char == MINUS) negative = true;
    else if (char == HASH || char == CAPITAL_M) mate = true;
    else if (char != PLUS) break;
  }
  const digits = at;
  let value: f64 = 0;
  while (at < end && isDigit(load<u8>(at))) value = value * 10 + <f64>(load<u8>(at++) - ZERO);
  let read = <i32>(at - digits);
  if (!mate && at < end && load<u8>(at) == DOT) {
    let unit = 0.1;
    for (at++; at < end && isDigit(load<u8>(at)); at++, unit /= 10, read++) value += <f64>(load<u8>(at) - ZERO) * unit;
  }
  if (read == 0) return NO_EVAL;
  if (at < end && load<u8>(at) != COMMA && !isSpace(load<u8>(at))) return NO_EVAL;
  if (!mate) {
    const centipawns = <i32>min<f64>(Math.floor(value * 100 + 0.5), HIGHEST_CP);
    return negative ? -centipawns : centipawns;
  }
  if (value == 0) return turn == 0 ? -MATE_CP : MATE_CP; // the side to move is mated already
  const moves = <i32>min<f64>(value, 999);
  const mover = negative == (turn == 1); // the side to move mates: its last move ends it
  const plies = mover ? 2 * moves - 1 : 2 * moves;
  return negative ? plies - MATE_CP : MATE_CP - plies;
}

/** Reads "1:02:03.5", "2:03" or "3" as milliseconds; -1 if it is none of these. */
function parseClock(from: usize, end: usize): i32 {
  let seconds: f64 = 0;
  let at = from;
  for (;;) {
    let part: f64 = 0;
    const digits = at;
    while (at < end && isDigit(load<u8>(at))) part = part * 10 + <f64>(load<u8>(at++) - ZERO);
    if (at == digits) return -1;
    seconds = seconds * 60 + part;
    if (at >= end || load<u8>(at) != COLON) break;
    at++;
  }
  if (at < end && load<u8>(at) == DOT) {
    let unit = 0.1;
    for (at++; at < end && isDigit(load<u8>(at)); at++, unit /= 10) seconds += <f64>(load<u8>(at) - ZERO) * unit;
  }
  if (at < end && !isSpace(load<u8>(at))) return -1;
  return <i32>min<f64>(Math.floor(seconds * 1000 + 0.5), i32.MAX_VALUE);
}

/**
 * Reads "+0.19/6 0.063s" or "-M4/12 0.1s", as cutechess and fastchess write it after a move: what its player found, in his
 * own view, before he moved; M counts plies. `mover` made the move. NO_EVAL if the comment begins otherwise.
 */
function parseFinding(from: usize, end: usize, mover: i32): i32 {
  let at = from;
  while (at < end && isSpace(load<u8>(at))) at++;
  const sign = at < end ? <i32>load<u8>(at) : 0;
  const negative = sign == MINUS;
  if (negative || sign == PLUS) at++;
  const mate = at < end && load<u8>(at) == CAPITAL_M;
  if (mate) at++;
  const digits = at;
  let value: f64 = 0;
  while (at < end && isDigit(load<u8>(at))) value = value * 10 + <f64>(load<u8>(at++) - ZERO);
  if (at == digits) return NO_EVAL;
  if (!mate) {
    if (at >= end || load<u8>(at++) != DOT) return NO_EVAL;
    let unit = 0.1;
    for (; at < end && isDigit(load<u8>(at)); at++, unit /= 10) value += <f64>(load<u8>(at) - ZERO) * unit;
  }
  if (at + 1 >= end || load<u8>(at) != SLASH || !isDigit(load<u8>(at + 1))) return NO_EVAL;
  let found = <i32>min<f64>(Math.floor(value * 100 + 0.5), HIGHEST_CP);
  if (mate) {
    const moves = (<i32>min<f64>(value, 1998) + 1) >> 1;
    found = MATE_CP - (negative ? 2 * moves : max(2 * moves - 1, 0));
  }
  return negative == (mover == 1) ? found : -found;
}

/** Looks for [%eval ...] and [%clk ...] in a comment. */
function readCommands(from: usize, end: usize, turn: i32, evalAt: usize, clockAt: usize): void {
  for (let at = from; at + 7 < end; at++) {
    if (load<u16>(at) != COMMAND) continue;
    const word = load<u32>(at, 2);
    const isEval = word == EVAL && isSpace(load<u8>(at, 6));
    const isClock = !isEval && (word & 0xffffff) == CLK && isSpace(load<u8>(at, 5));
    if (!isEval && !isClock) continue;
    let value = at + (isEval ? 7 : 6);
    while (value < end && isSpace(load<u8>(value))) value++;
    let close = value;
    while (close < end && load<u8>(close) != CLOSE_BRACKET) close++;
    if (close >= end) return;
    if (isEval) {
      const found = parseEval(value, close, turn);
      if (found != NO_EVAL) store<i16>(evalAt, found);
    } else {
      const found = parseClock(value, close);
      if (found >= 0) store<i32>(clockAt, found);
    }
    at = close;
  }
}

/** Takes the numbers out of a comment after the move of a slot, or before the first move. */
function readComment(from: usize, end: usize, turn: i32, isFirst: bool, evalAt: usize, clockAt: usize): void {
  readCommands(from, end, turn, evalAt, clockAt);
  // What a player found is about the position he looked at.
  if (!isFirst && load<i16>(evalAt - 2) == NO_EVAL) store<i16>(evalAt - 2, parseFinding(from, end, turn ^ 1));
}

/** The result a word spells: 1 1-0, 2 0-1, 3 a draw, 0 *; else -1. */
function parseResult(at: usize, length: i32): i32 {
  if (length == 1) return load<u8>(at) == STAR ? 0 : -1;
  if (length != 3 && length != 7) return -1;
  const word = load<u16>(at) | (<u32>load<u8>(at, 2) << 16);
  if (length == 7) return word == HALF && load<u32>(at, 3) == MINUS_HALF ? 3 : -1;
  if (word == WHITE_WINS) return 1;
  if (word == BLACK_WINS) return 2;
  return word == HALF ? 3 : -1;
}

/** Whether ".p." stands at the address: the rest of "e.p." */
function isPassing(at: usize, end: usize): bool {
  return at + 3 <= end && load<u16>(at) == DOT_P && load<u8>(at + 2) == DOT;
}

/** Whether a word is a check mark that stands apart: +, ++ or #. */
function isCheckMark(from: usize, end: usize): bool {
  for (let at = from; at < end; at++) if (load<u8>(at) != PLUS && load<u8>(at) != HASH) return false;
  return true;
}

/** The NAG of ! ? !! ?? !? ?! at the end of a word, or 0. */
function suffixNag(at: usize, end: usize): i32 {
  const last = <i32>load<u8>(end - 1);
  if (last != BANG && last != QUESTION) return 0;
  const before = end - 1 > at ? <i32>load<u8>(end - 2) : 0;
  if (before == BANG) return last == BANG ? 3 : 5;
  if (before == QUESTION) return last == QUESTION ? 4 : 6;
  return last == BANG ? 1 : 2;
}

/** The NAG of = += =+ +/= =/+ +/- -/+ +- -+ as printed in books, or 0. */
function signNag(at: usize, length: i32): i32 {
  const first = <i32>load<u8>(at);
  if (length == 1) return first == EQUALS ? 10 : 0;
  if (length == 3 && load<u8>(at + 1) != SLASH) return 0;
  if (length > 3) return 0;
  const last = <i32>load<u8>(at + length - 1);
  if (first == PLUS && last == EQUALS) return 14;
  if (first == EQUALS && last == PLUS) return 15;
  if (first == PLUS && last == MINUS) return length == 3 ? 16 : 18;
  if (first == MINUS && last == PLUS) return length == 3 ? 17 : 19;
  return 0;
}

@inline
function putNote(note: usize, kind: i32, ply: i32, value: usize, length: usize): usize {
  store<u32>(note, (kind << 24) | ply);
  store<u32>(note, <u32>value, 4);
  store<u32>(note, <u32>length, 8);
  return note + NOTE_BYTES;
}

// The first error of the game that is being read.
let error: i32 = 0;
let errorAt: usize = 0;
let errorLength: i32 = 0;

function fail(code: i32, at: usize, end: usize): void {
  if (error) return;
  error = code;
  errorAt = at;
  errorLength = <i32>(end - at);
}

/** Where a comment that begins at the address ends, in braces or with its line. */
function findCommentClose(at: usize, end: usize): usize {
  return load<u8>(at) == OPEN_BRACE ? findCommentEnd(at + 1, end) : findLineEnd(at + 1, end);
}

/** Gives up on a comment without an end: where the next game's tags begin, or the end of the text. */
function abandonComment(at: usize, end: usize): usize {
  fail(OPEN_COMMENT, at, findLineEnd(at, end));
  return findTagLine(at, end) || end;
}

/** Whether a Variant tag says "chess" in one of the usual ways. All others are read by src/formats/games/variant.ts. */
function isStandard(at: usize, length: i32): bool {
  if (length == 0 || isWord(at, length, STANDARD, 8)) return true;
  if (isWord(at, length, NORMAL, 6) || isWord(at, length, CHESS, 5)) return true;
  // "From Position"
  return length == 13 && isWord(at, 4, FROM, 4) && isWord(at + 5, 8, POSITION, 8);
}

/** Writes the position a game starts from, given its FEN tag if it has one; false if that needs the caller's help. */
function putStart(r: usize, fen: usize, needsHelp: bool): bool {
  const start = <usize>load<u32>(r, 40);
  if (needsHelp) return false;
  if (fen) return readFen(<usize>load<u32>(fen, 8), load<i32>(fen, 12), start); // a negative length has backslashes
  copyPosition(start, <usize>load<u32>(r, 44));
  return true;
}

/**
 * Reads the game that begins at or after `from`. `isLast` says that no text follows `end`. There must be a readable byte
 * before `from`: a line end, if `from` begins a line.
 */
export function readGame(r: usize, from: usize, end: usize, isLast: bool, mode: i32): i32 {
  const game = <usize>load<u32>(r);
  const firstTag = <usize>load<u32>(r, 4);
  const tagLimit = <usize>load<u32>(r, 8);
  const firstSlot = load<i32>(r, 12);
  const slotLimit = load<i32>(r, 16);
  const moves = <usize>load<u32>(r, 20);
  const evals = <usize>load<u32>(r, 24);
  const clocks = <usize>load<u32>(r, 28);
  const firstNote = <usize>load<u32>(r, 32);
  const noteLimit = <usize>load<u32>(r, 36);
  const start = <usize>load<u32>(r, 40);
  const p = <usize>load<u32>(r, 48);
  const list = p + POSITION_BYTES;

  let tag = firstTag;
  let slot = firstSlot;
  let note = firstNote;
  let result = -1;
  let tagResult = 0;
  let playing = mode != SKIP;
  let prepared = false; // the start is on the board `p`
  let needsHelp = false; // a Variant tag names something else than chess
  let fen: usize = 0; // the tag
  let inMoves = false; // something of the move text was seen
  let text: usize = 0; // where the game begins

  error = 0;

  if (slot >= slotLimit) return FULL;
  store<u16>(moves + (slot << 1), 0);
  store<i16>(evals + (slot << 1), NO_EVAL);
  store<i32>(clocks + (slot << 2), -1);

  let at = from;
  for (;;) {
    while (at < end && isSpace(load<u8>(at))) at++;
    if (at >= end) {
      if (!isLast) return MORE;
      break;
    }
    const char = <i32>load<u8>(at);
    if (char == MARK_FIRST && !inMoves && tag == firstTag && note == firstNote && at + 3 <= end) {
      // the byte order mark of UTF-8
      if (load<u16>(at, 1) == MARK_REST) {
        at += 3;
        continue;
      }
    }
    if (char == PERCENT && load<u8>(at - 1) == NEWLINE) {
      at = findLineEnd(at, end);
      continue;
    }
    if (text == 0) text = at;

    if (char == OPEN_BRACKET) {
      if (at + 1 >= end && !isLast) return MORE;
      if (inMoves) {
        const value = findTagValue(at, end);
        if (value == RAN_OUT && !isLast) return MORE;
        if (value > BROKEN) break; // the next game: this one has no result
        const close = findBracketEnd(at, end);
        if (close == RAN_OUT && !isLast) return MORE;
        at = max(at, close) + 1;
        continue;
      }
      if (tag + 16 > tagLimit) return FULL;
      const next = readTag(at, end, tag);
      if (next == RAN_OUT && !isLast) return MORE;
      if (next <= BROKEN) {
        fail(BAD_TAG, at, findLineEnd(at, end));
        playing = false;
        at = findLineEnd(at, end);
        if (at >= end && !isLast) return MORE;
        continue;
      }
      const name = <usize>load<u32>(tag);
      const nameLength = load<i32>(tag, 4);
      const value = <usize>load<u32>(tag, 8);
      const valueLength = load<i32>(tag, 12) & 0x7fffffff;
      if (tag > firstTag && nameLength == load<i32>(firstTag, 4)) {
        // The first tag again: the game before had no moves and not even a result.
        if (memory.compare(name, <usize>load<u32>(firstTag), nameLength) == 0) break;
      }
      tag += 16;
      prepared = false;
      at = next;
      if (isWord(name, nameLength, RESULT, 6)) tagResult = max(parseResult(value, valueLength), 0);
      else if (isWord(name, nameLength, FEN, 3)) fen = fen || tag - 16;
      else if (isWord(name, nameLength, VARIANT, 7)) needsHelp = needsHelp || !isStandard(value, valueLength);
      continue;
    }

    if (!prepared && playing) {
      if (mode == FIRST && !putStart(r, fen, needsHelp)) {
        store<u32>(game, <i32>((tag - firstTag) >> 4), 12);
        return NEEDS_START;
      }
      copyPosition(p, start);
      prepared = true;
    }

    if (char == OPEN_BRACE || char == SEMICOLON) {
      // a comment, in braces or to the end of the line
      const close = findCommentClose(at, end);
      if ((close == RAN_OUT || close == end) && !isLast) return MORE;
      if (close <= BROKEN) {
        at = abandonComment(at, end);
        break;
      }
      if (playing) {
        if (note + NOTE_BYTES > noteLimit) return FULL;
        note = putNote(note, NOTE_COMMENT, slot - firstSlot, at + 1, close - at - 1);
        readComment(at + 1, close, side(p), slot == firstSlot, evals + (slot << 1), clocks + (slot << 2));
      }
      at = close + usize(close < end);
      continue;
    }

    inMoves = true;
    if (char == STAR) {
      result = 0;
      at++;
      break;
    }
    if (char == DOT) {
      at++;
      continue;
    }
    if (char == DOLLAR) {
      let value = 0;
      for (at++; at < end && isDigit(load<u8>(at)); at++) value = min(value * 10 + (<i32>load<u8>(at) - ZERO), 9999);
      if (at >= end && !isLast) return MORE;
      if (playing) {
        if (note + NOTE_BYTES > noteLimit) return FULL;
        note = putNote(note, NOTE_NAG, slot - firstSlot, value, 0);
      }
      continue;
    }
    if (char == OPEN_PAREN) {
      const close = findVariationEnd(at + 1, end);
      if (close == RAN_OUT && !isLast) return MORE;
      if (close <= BROKEN) {
        fail(OPEN_VARIATION, at, findLineEnd(at, end));
        at = findTagLine(at, end) || end;
        break;
      }
      if (playing) {
        if (note + NOTE_BYTES > noteLimit) return FULL;
        note = putNote(note, NOTE_VARIATION, slot - firstSlot, at + 1, close - at - 1);
      }
      at = close + 1;
      continue;
    }

    // A word: a number, a result or a move.
    let stop = at;
    if (isDigit(char)) {
      while (stop < end && isDigit(load<u8>(stop))) stop++;
      if (stop >= end && !isLast) return MORE;
      const after = stop < end ? <i32>load<u8>(stop) : 0;
      if (after != MINUS && after != SLASH) {
        at = stop; // the number of a move; its dots come next, or the move itself
        continue;
      }
    }
    while (stop < end && !endsToken(load<u8>(stop))) stop++;
    if (stop >= end && !isLast) return MORE;
    const length = <i32>(stop - at);
    if (length == 0) {
      at++; // one of ) } ] > < , that means nothing here
      continue;
    }
    if (isDigit(char)) {
      result = parseResult(at, length);
      if (result >= 0) {
        at = stop;
        break;
      }
    }
    if (!playing) {
      at = stop;
      continue;
    }

    let move = parseSan(p, at, length, list);
    if (move == SAN_UNREADABLE && length > 4 && load<u8>(stop - 1) == LOWER_E) {
      if (stop + 3 > end && !isLast) return MORE;
      if (isPassing(stop, end)) {
        move = parseSan(p, at, length - 1, list); // exd6e.p.
        stop += 3;
      }
    }
    if (move > 0) {
      if (slot + 1 >= slotLimit || slot - firstSlot >= LONGEST_GAME) return FULL;
      play(p, move);
      slot++;
      store<u16>(moves + (slot << 1), <u16>move);
      store<i16>(evals + (slot << 1), NO_EVAL);
      store<i32>(clocks + (slot << 2), -1);
      const nag = suffixNag(at, stop);
      if (nag) {
        if (note + NOTE_BYTES > noteLimit) return FULL;
        note = putNote(note, NOTE_NAG, slot - firstSlot, nag, 0);
      }
      at = stop;
      continue;
    }
    // No move. Perhaps an annotation that stands apart: "!?", "+-", "e.p."
    let nag = 0;
    if (char == BANG || char == QUESTION) nag = length <= 2 ? suffixNag(at, stop) : 0;
    else if (char == PLUS || char == MINUS || char == EQUALS) nag = signNag(at, length);
    if (nag) {
      if (note + NOTE_BYTES > noteLimit) return FULL;
      note = putNote(note, NOTE_NAG, slot - firstSlot, nag, 0);
      at = stop;
      continue;
    }
    if (isCheckMark(at, stop) || isWord(at, length, EP, 2)) {
      at = stop; // + or # or ep
      continue;
    }
    if (char == LOWER_E && length == 1) {
      if (stop + 3 > end && !isLast) return MORE;
      if (isPassing(stop, end)) {
        at = stop + 3; // e.p.
        continue;
      }
    }
    const isNull = length == 2 && (load<u16>(at) == NULL_DASHES || load<u16>(at) == NULL_Z0);
    const reason = move == SAN_ILLEGAL ? ILLEGAL : move == SAN_AMBIGUOUS ? AMBIGUOUS : UNREADABLE;
    fail(isNull ? NULL_MOVE : reason, at, stop);
    playing = false;
    at = stop;
  }

  if (!inMoves && tag == firstTag && !error) return NOTHING;
  if (result >= 0) {
    // A comment on the line of the result still belongs to the game. Read by the same lines as those among the moves: they change
    // two of our cursors and may return, which a function cannot do for us.
    for (;;) {
      while (at < end && (load<u8>(at) == SPACE || load<u8>(at) == TAB)) at++;
      if (at >= end) {
        if (!isLast) return MORE;
        break;
      }
      const char = <i32>load<u8>(at);
      if (char != OPEN_BRACE && char != SEMICOLON) break;
      const close = findCommentClose(at, end);
      if (!isLast && (close == RAN_OUT || close == end)) return MORE;
      if (close <= BROKEN) {
        at = abandonComment(at, end);
        break;
      }
      if (playing) {
        if (note + NOTE_BYTES > noteLimit) return FULL;
        note = putNote(note, NOTE_COMMENT, slot - firstSlot, at + 1, close - at - 1);
        readComment(at + 1, close, side(p), slot == firstSlot, evals + (slot << 1), clocks + (slot << 2));
      }
      at = close + usize(close < end);
    }
  } else if (!prepared && playing) {
    if (mode == FIRST && !putStart(r, fen, needsHelp)) {
      store<u32>(game, <i32>((tag - firstTag) >> 4), 12);
      return NEEDS_START;
    }
  }
  store<u32>(game, <u32>text);
  store<u32>(game, <u32>at, 4);
  store<u32>(game, <u32>firstTag, 8);
  store<i32>(game, <i32>((tag - firstTag) >> 4), 12);
  store<i32>(game, firstSlot, 16);
  store<i32>(game, slot - firstSlot, 20);
  store<u32>(game, <u32>firstNote, 24);
  store<i32>(game, <i32>((note - firstNote) / NOTE_BYTES), 28);
  store<i32>(game, result >= 0 ? result : tagResult, 32);
  store<i32>(game, result >= 0 ? 0 : FLAG_NO_RESULT, 36);
  store<i32>(game, error, 40);
  store<u32>(game, <u32>errorAt, 44);
  store<i32>(game, errorLength, 48);
  store<i32>(game, slot - firstSlot, 52);
  return GAME;
}
