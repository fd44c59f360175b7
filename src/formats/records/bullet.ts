// Bullet's 32-byte records (docs/formats/bullet.md). They hold the board as the side to move sees it, so it is shown with
// White to move; who really moved, castling and clocks are not in them.
import { concatBytes, openBytes, UserError } from "#base";
import { core } from "#chess";
import {
  badRecord,
  type DataRecord,
  numberField,
  type OnBad,
  type RecordReader,
  type RecordWriter,
  textField,
  throwBad,
} from "./record.js";
import { BATCH_RECORDS, formatFenAt, POSITION, putFen } from "./struct.js";
import { writeEach } from "./write-each.js";

const BYTES = 32;

/** One record as its JSON twin; throws what is wrong with it. */
export function decodeBullet(bytes: Uint8Array): DataRecord {
  const view = new DataView(bytes.buffer, bytes.byteOffset, BYTES);
  const struct = core.bytes;
  struct.fill(0, POSITION, POSITION + core.POSITION_BYTES);
  let man = 0;
  const kings = [0, 0];
  for (let half = 0; half < 2; half++) {
    let set = view.getUint32(half * 4, true);
    for (; set !== 0; set &= set - 1, man++) {
      const square = half * 32 + 31 - Math.clz32(set & -set);
      if (man === 32) throw new UserError("BULLET_RECORD", "more than 32 pieces stand on the board.");
      const code = (bytes[8 + (man >> 1)] >> ((man & 1) * 4)) & 15;
      const role = code & 7;
      if (role > 5)
        throw new UserError("BULLET_RECORD", `the piece on square ${square} has the code ${code}, which means none.`);
      if (role === 5) kings[code >> 3]++;
      if (role === 0 && (square < 8 || square > 55)) {
        throw new UserError("BULLET_RECORD", "a pawn stands on the first or last rank.");
      }
      struct[POSITION + core.MAILBOX_AT + square] = (role + 1) | (code & 8);
    }
  }
  if (kings[0] !== 1 || kings[1] !== 1) {
    throw new UserError("BULLET_RECORD", `there are ${kings[0]} and ${kings[1]} kings, expected one each.`);
  }
  const result = bytes[26];
  if (result > 2) throw new UserError("BULLET_RECORD", `the result is ${result}, expected 0, 1 or 2.`);
  struct[POSITION + core.EP_AT] = core.NO_SQUARE;
  struct[POSITION + core.FULLMOVES_AT] = 1;
  return { fen: formatFenAt(POSITION), score: view.getInt16(24, true), result: result - 1 };
}

/** A scored position as 32 bytes; throws what is wrong with it. The board is turned so that the side to move goes up. */
export function encodeBullet(record: DataRecord): Uint8Array {
  const score = numberField(record, "score", -32768, 32767);
  const result = numberField(record, "result", -1, 1);
  putFen(textField(record, "fen"));
  const { bytes: struct } = core;
  const black = struct[POSITION + core.SIDE_AT];
  const bytes = new Uint8Array(BYTES);
  const view = new DataView(bytes.buffer);
  let man = 0;
  for (let square = 0; square < 64; square++) {
    const code = struct[POSITION + core.MAILBOX_AT + (black ? square ^ 56 : square)];
    if (code === 0) continue;
    if (man === 32) throw new UserError("BULLET_RECORD", "more than 32 pieces stand on the board.");
    const role = (code & 7) - 1;
    const theirs = (code & 8) !== black << 3;
    bytes[square >> 3] |= 1 << (square & 7);
    bytes[8 + (man >> 1)] |= (role | (theirs ? 8 : 0)) << ((man & 1) * 4);
    if (role === 5) bytes[theirs ? 28 : 27] = theirs ? square ^ 56 : square;
    man++;
  }
  view.setInt16(24, Math.round(score), true);
  bytes[26] = Math.round(result) + 1;
  return bytes;
}

export const createBullet = (path: string, onBad: OnBad = throwBad): Promise<RecordWriter> =>
  writeEach(path, onBad, encodeBullet);

export async function openBullet(path: string, onBad: OnBad = throwBad): Promise<RecordReader> {
  const source = await openBytes(path);
  const notWhole = (size: number) =>
    badRecord(
      "BULLET_LENGTH",
      { path, record: Math.floor(size / BYTES) },
      `the file has ${size} bytes, which is no whole number of 32-byte records.`,
    );
  const compressed = /\.(zst|gz|bz2)$/i.test(path) || path === "-";
  if (!compressed && source.size !== undefined && source.size % BYTES !== 0) throw notWhole(source.size);
  return {
    path,
    format: "bullet",
    records: compressed || source.size === undefined ? undefined : source.size / BYTES,
    size: source.size,
    get bytesRead() {
      return source.bytesRead;
    },
    async *[Symbol.asyncIterator]() {
      let rest = new Uint8Array(0);
      let record = 0;
      for await (const chunk of source) {
        const bytes = rest.length > 0 ? concatBytes([rest, chunk]) : chunk;
        const whole = bytes.length - (bytes.length % BYTES);
        let records: DataRecord[] = [];
        for (let at = 0; at < whole; at += BYTES, record++) {
          try {
            records.push(decodeBullet(bytes.subarray(at, at + BYTES)));
          } catch (error) {
            if (!(error instanceof UserError)) throw error;
            onBad(badRecord(error.code, { path, record, byte: record * BYTES }, error.message));
          }
          if (records.length === BATCH_RECORDS) {
            yield records;
            records = [];
          }
        }
        yield records;
        rest = bytes.slice(whole);
      }
      if (rest.length > 0) throw notWhole(record * BYTES + rest.length);
    },
  };
}
