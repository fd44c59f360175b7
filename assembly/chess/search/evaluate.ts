// The value of a position in centipawns for the side to move: by a network if there is one, else by a small hand-written
// evaluation that interpolates between the middlegame and the endgame. Its numbers are our own, set by hand.
import { bishopAttacks, FILE_A, kingAttacks, knightAttacks, pawnAttacks, rookAttacks } from "../rules/attacks";
import { nnueCentipawns } from "../nnue/network";
import {
  BISHOP, BLACK, colorSet, KING, key, KNIGHT, kingSquare, occupied, PAWN, QUEEN, ROOK, roleSet, rule50, side, WHITE,
} from "../rules/position";
import { HIGHEST_CP } from "../rules/score";

let useNetwork: bool = false;

const VALUES: usize = memory.data(6 * 64 * 4, 64); // [role][square seen from its side]: i16 middlegame, i16 endgame

// By role: material, and what a step towards the centre, a rank forward, and a square of mobility are worth.
const MIDDLE: usize = memory.data<i32>([78, 325, 340, 480, 980, 0]);
const END: usize = memory.data<i32>([108, 300, 320, 540, 960, 0]);
const MIDDLE_CENTRE: usize = memory.data<i32>([5, 9, 4, 2, 1, -13]);
const END_CENTRE: usize = memory.data<i32>([-1, 7, 4, 0, 6, 11]);
const MIDDLE_RANK: usize = memory.data<i32>([2, 3, 2, 1, 0, -16]);
const END_RANK: usize = memory.data<i32>([7, 1, 0, 2, 3, 3]);
const MIDDLE_MOBILITY: usize = memory.data<i32>([0, 4, 5, 3, 1, 0]);
const END_MOBILITY: usize = memory.data<i32>([0, 4, 5, 5, 5, 0]);
const PHASE: usize = memory.data<i32>([0, 1, 1, 2, 4, 0]);
const PASSED_MIDDLE: usize = memory.data<i32>([0, 0, 2, 8, 22, 45, 90, 0]);
const PASSED_END: usize = memory.data<i32>([0, 8, 14, 30, 58, 105, 170, 0]);

@inline
function at(table: usize, i: i32): i32 {
  return load<i32>(table + (i << 2));
}

/** Fills the tables; and whether a network was started with `nnueStart`. */
export function evaluationStart(network: bool): void {
  useNetwork = network;
  for (let role = PAWN; role <= KING; role++) {
    for (let square = 0; square < 64; square++) {
      const file = square & 7;
      const rank = square >> 3;
      const centre = min(file, 7 - file) + min(rank, 7 - rank); // 0 in the corners, 6 in the middle
      // The king likes to have castled, or at least not to stand on the d- or e-file.
      const shelter = role == KING && rank == 0 ? (file == 6 || file == 1 || file == 2 ? 24 : file == 4 ? 0 : -8) : 0;
      const middle = at(MIDDLE, role) + centre * at(MIDDLE_CENTRE, role) + rank * at(MIDDLE_RANK, role) + shelter;
      const end = at(END, role) + centre * at(END_CENTRE, role) + rank * at(END_RANK, role);
      const entry = VALUES + (((role << 6) | square) << 2);
      store<i16>(entry, <i16>middle);
      store<i16>(entry, <i16>end, 2);
    }
  }
}

/** What a piece gains by its square alone when it moves, in centipawns of the middlegame. */
@inline
export function placeGain(role: i32, color: i32, from: i32, to: i32): i32 {
  const flip = color == WHITE ? 0 : 56;
  const squares = VALUES + (role << 8);
  return <i32>load<i16>(squares + ((to ^ flip) << 2)) - <i32>load<i16>(squares + ((from ^ flip) << 2));
}

let middle: i32 = 0;
let end: i32 = 0;

function addSide(p: usize, us: i32): void {
  const sign = us == WHITE ? 1 : -1;
  const flip = us == WHITE ? 0 : 56;
  const own = colorSet(p, us);
  const all = occupied(p);
  const pawns = roleSet(p, PAWN);
  const enemyPawns = pawns & ~own;
  const enemyZone = kingAttacks(kingSquare(p, us ^ 1));
  let attackers = 0;
  let mg = 0;
  let eg = 0;
  for (let role = PAWN; role <= KING; role++) {
    let pieces = roleSet(p, role) & own;
    while (pieces) {
      const square = <i32>ctz(pieces);
      pieces &= pieces - 1;
      const entry = VALUES + (((role << 6) | (square ^ flip)) << 2);
      mg += load<i16>(entry);
      eg += load<i16>(entry, 2);
      if (role == PAWN) {
        const file = square & 7;
        const files = (FILE_A << file) | (file > 0 ? FILE_A << (file - 1) : 0) | (file < 7 ? FILE_A << (file + 1) : 0);
        const ahead = us == WHITE ? (~(<u64>0) << square) << 1 : ((<u64>1) << square) - 1;
        const rank = (square ^ flip) >> 3;
        if (!(files & ahead & enemyPawns & ~((<u64>0xff) << (square & 56)))) {
          mg += at(PASSED_MIDDLE, rank);
          eg += at(PASSED_END, rank);
        }
        const neighbours = files & ~(FILE_A << file) & pawns & own;
        if (!neighbours) {
          mg -= 12;
          eg -= 10;
        } else if (pawnAttacks(us ^ 1, square) & pawns & own) mg += 8;
        if ((FILE_A << file) & ahead & pawns & own) {
          mg -= 6;
          eg -= 16;
        }
      } else if (role != KING) {
        let reach: u64 = 0;
        if (role == KNIGHT) reach = knightAttacks(square);
        if (role == BISHOP || role == QUEEN) reach |= bishopAttacks(square, all);
        if (role == ROOK || role == QUEEN) reach |= rookAttacks(square, all);
        const moves = <i32>popcnt(reach & ~own);
        mg += moves * at(MIDDLE_MOBILITY, role);
        eg += moves * at(END_MOBILITY, role);
        if (reach & enemyZone) attackers += role == QUEEN ? 3 : role == ROOK ? 2 : 1;
        if (role == ROOK && !((FILE_A << (square & 7)) & pawns & own)) mg += (FILE_A << (square & 7)) & pawns ? 10 : 22;
      }
    }
  }
  mg += attackers * attackers * 3;
  if (popcnt(roleSet(p, BISHOP) & own) >= 2) {
    mg += 28;
    eg += 45;
  }
  // Pawns in front of the own king
  const king = kingSquare(p, us);
  const shield = us == WHITE ? kingAttacks(king) << 8 | kingAttacks(king) : kingAttacks(king) >> 8 | kingAttacks(king);
  mg += <i32>popcnt(shield & pawns & own) * 7;
  middle += sign * mg;
  end += sign * eg;
}

function handWritten(p: usize): i32 {
  middle = 0;
  end = 0;
  addSide(p, WHITE);
  addSide(p, BLACK);
  let phase = 0;
  for (let role = KNIGHT; role <= QUEEN; role++) phase += <i32>popcnt(roleSet(p, role)) * at(PHASE, role);
  phase = min(phase, 24);
  const white = (middle * phase + end * (24 - phase)) / 24;
  return (side(p) == WHITE ? white : -white) + 12;
}

let noise: i32 = 0;
let noiseSeed: u64 = 0;
let expected: i32 = 0; // the root's value without errors, for White

// Errors grow with the square of the distance from the root's value, and are full at this one: who plays weakly misjudges
// what changes the game, and still tells a developing move from one at the edge.
const FULL_ERROR_CP = 100;
const LEAST_ERROR = 12; // percent, of quiet positions

/** Makes evaluations wrong by up to so many centipawns, always the same way for a position and a seed: a weaker player. */
export function setNoise(centipawns: i32, seed: u64): void {
  noise = centipawns;
  noiseSeed = seed;
}

/** Tells from which value errors are counted, that of the root. */
export function expectRoot(p: usize): void {
  if (noise) expected = forWhite(p, useNetwork ? nnueCentipawns(0) : handWritten(p));
}

@inline
function forWhite(p: usize, value: i32): i32 {
  return side(p) == WHITE ? value : -value;
}

/** Between -noise and noise, small errors being likelier. */
function error(p: usize, value: i32): i32 {
  let h = (key(p) ^ noiseSeed) * 0x9e3779b97f4a7c15;
  h ^= h >> 32;
  h *= 0xbf58476d1ce4e5b9;
  const distance = min(abs(forWhite(p, value) - expected), FULL_ERROR_CP);
  const most = (noise * max(distance * distance * 100, LEAST_ERROR * FULL_ERROR_CP * FULL_ERROR_CP)) / (100 * FULL_ERROR_CP * FULL_ERROR_CP);
  return (most * (<i32>((h >> 16) & 0xffff) - <i32>(h >> 48))) / 0xffff;
}

/** For the side to move, which is not in check; `ply` is where the position stands in the stack of the network. */
export function evaluate(p: usize, ply: i32): i32 {
  let value = useNetwork ? nnueCentipawns(ply) : handWritten(p);
  if (noise) value += error(p, value);
  // The longer nothing happens the nearer is the draw.
  const damped = (value * (220 - min(rule50(p), 100))) / 220;
  return max(-HIGHEST_CP, min(HIGHEST_CP, damped));
}
