// The transposition table: what is known of positions searched before, in memory that all threads share without locks.
// An entry is 16 bytes: the data, and the key xored with it, so that an entry written by two threads at once matches no
// key (Hyatt and Mann 2002). Four entries make a bucket of one cache line.
//
// A thread that has the table for itself begins with a small part of it, which stays in the caches, and takes twice as much
// whenever that is half full. Several threads, which could not agree on the moment, use all of it from the start, and so
// does a table so large that moving its entries would cost a player time.
//
// data: move 0-15, score 16-31, static evaluation 32-47, depth + 1 48-55, bound 56-57, PV 58, age 59-63. The 1 keeps entries
// apart from empty slots: a mere static evaluation of 0 in a search of age 0 would otherwise be lost.
export const NO_BOUND: i32 = 0;
export const UPPER: i32 = 1;
export const LOWER: i32 = 2;
export const EXACT: i32 = 3;

const EMPTY: i32 = -1000; // what a free slot is worth: less than any entry
const SMALL: u64 = 1 << 14; // buckets to begin with: one megabyte
const LARGE: u64 = 1 << 20; // the most that are reached by growing: 64 MB

let table: usize = 0;
let least: u64 = 0; // buckets in use when empty
let most: u64 = 0;
let buckets: u64 = 0; // in use
let entries: u64 = 0; // written where nothing was
let age: i32 = 0;

/** The table is empty. `alone`: no other thread uses it. */
export function tableStart(at: usize, bytes: u32, alone: bool): void {
  table = at;
  most = <u64>(bytes >> 6);
  least = most;
  if (alone && most <= LARGE) while (least > SMALL && !(least & 1)) least >>= 1;
  buckets = least;
  entries = 0;
}

export function tableClear(): void {
  memory.fill(table, 0, <usize>(buckets << 6));
  buckets = least;
  entries = 0;
}

/** A new search: what older ones left counts less. */
export function tableAge(to: i32): void {
  age = to & 31;
}

@inline
function bucketOf(key: u64): usize {
  return table + (<usize>(((key >> 32) * buckets) >> 32) << 6);
}

/** The data kept for the key, or 0. */
@inline
export function probe(key: u64): u64 {
  const bucket = bucketOf(key);
  for (let at = bucket; at < bucket + 64; at += 16) {
    const data = load<u64>(at, 8);
    if ((load<u64>(at) ^ data) == key) return data;
  }
  return 0;
}

@inline
export function entryMove(data: u64): i32 {
  return <i32>(data & 0xffff);
}

@inline
export function entryScore(data: u64): i32 {
  return <i32>(<i16>(data >> 16));
}

@inline
export function entryEval(data: u64): i32 {
  return <i32>(<i16>(data >> 32));
}

@inline
export function entryDepth(data: u64): i32 {
  return <i32>((data >> 48) & 0xff) - 1;
}

@inline
export function entryBound(data: u64): i32 {
  return <i32>((data >> 56) & 3);
}

@inline
export function entryPv(data: u64): bool {
  return ((data >> 58) & 1) != 0;
}

/** Keeps what was found, in place of an older or shallower entry. Without a move, the old move for the key stays. */
export function remember(key: u64, move: i32, score: i32, evaluation: i32, depth: i32, bound: i32, pv: bool): void {
  const bucket = bucketOf(key);
  let slot = bucket;
  let worst = i32.MAX_VALUE;
  for (let at = bucket; at < bucket + 64; at += 16) {
    const data = load<u64>(at, 8);
    if ((load<u64>(at) ^ data) == key) {
      // A shallow bound does not replace a deep entry of this search.
      if (bound != EXACT && depth + 4 < entryDepth(data) && <i32>(data >> 59) == age) return;
      if (!move) move = entryMove(data);
      slot = at;
      break;
    }
    const worth = data ? entryDepth(data) - (((age - <i32>(data >> 59)) & 31) << 2) : EMPTY;
    if (worth < worst) {
      worst = worth;
      slot = at;
    }
  }
  const data =
    <u64>move |
    (<u64>(<u16>score) << 16) |
    (<u64>(<u16>evaluation) << 32) |
    (<u64>(depth + 1) << 48) |
    (<u64>bound << 56) |
    (<u64>(pv ? 1 : 0) << 58) |
    (<u64>age << 59);
  if (load<u64>(slot, 8) == 0) entries++;
  store<u64>(slot, key ^ data);
  store<u64>(slot, data, 8);
  if (entries > buckets << 1 && buckets < most) grow();
}

/** Doubles the part in use. The entries of a bucket go to two that follow each other. */
function grow(): void {
  const end = table + <usize>(buckets << 6);
  buckets <<= 1;
  // From the end, so that entries go where nothing is, or where they were.
  for (let from = end - 64; from >= table; from -= 64) {
    const e0 = v128.load(from);
    const e1 = v128.load(from, 16);
    const e2 = v128.load(from, 32);
    const e3 = v128.load(from, 48);
    memory.fill(from, 0, 64);
    put(e0, 0);
    put(e1, 16);
    put(e2, 32);
    put(e3, 48);
  }
}

/** Writes an entry at this slot of its bucket, which is free. */
@inline
function put(entry: v128, slot: usize): void {
  const data = <u64>i64x2.extract_lane(entry, 1);
  if (data) v128.store(bucketOf(<u64>i64x2.extract_lane(entry, 0) ^ data) + slot, entry);
}

/** How full of entries of this search the table is, in thousandths. */
export function tableUse(): i32 {
  let used = 0;
  const sample = <i32>min<u64>(buckets, 250);
  for (let at = table; at < table + (sample << 6); at += 16) {
    const data = load<u64>(at, 8);
    if (data && <i32>(data >> 59) == age) used++;
  }
  return sample ? <i32>((<u64>(used * 1000) * buckets) / (<u64>(sample << 2) * most)) : 0;
}
