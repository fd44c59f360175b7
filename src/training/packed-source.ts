import { concatBytes, Random, readBytes, UserError } from "#base";
import { core } from "#chess";
import { MOVE_TABLES, RECORD_BYTES, ROW_LENGTHS } from "#encodings";
import { encodePacked, formatOf, openRecords } from "#formats";
import { BOARDS } from "#models";
import type { BatchSource, PolicyValueBatch } from "./batch-source.js";

const { POSITION_BYTES, LIST, wasm } = core;
const SIDE = 138; // where a position says whose move it is: assembly/chess/position.ts

export interface PackedOptions {
  board: keyof typeof BOARDS;
  seed: number; // of the order
  scoreScale: number; // centipawns k in the value tanh(score / k)
  resultShare: number; // of the game's result in the value
  limit?: number; // positions at most; 0 or nothing: all
}

/** Positions in memory as .bin records, 40 bytes each: 25 million fit into a gigabyte. */
export class PackedSource implements BatchSource<PolicyValueBatch> {
  readonly positions: number;
  readonly fingerprint: string;
  private encoder: PackedEncoder | undefined; // kept, as the core's memory is never given back

  constructor(
    private readonly records: Uint8Array,
    private readonly options: PackedOptions,
  ) {
    this.positions = records.length / RECORD_BYTES;
    this.fingerprint = `${this.positions} records, fnv1a ${fnv1a(records).toString(16).padStart(8, "0")}`;
  }

  async *batches({ size, epoch, from = 0 }: { size: number; epoch?: number; from?: number }) {
    const order = Uint32Array.from({ length: this.positions }, (_, i) => i);
    if (epoch !== undefined) shuffle(order, new Random(this.options.seed * 1_000_003 + epoch));
    if (this.encoder?.capacity !== size) this.encoder = new PackedEncoder(size, this.options);
    const rows = new Uint8Array(size * RECORD_BYTES);
    for (let start = from * size; start < order.length; start += size) {
      const count = Math.min(size, order.length - start);
      for (let i = 0; i < count; i++) {
        const at = order[start + i] * RECORD_BYTES;
        rows.set(this.records.subarray(at, at + RECORD_BYTES), i * RECORD_BYTES);
      }
      yield this.encoder.encode(rows.subarray(0, count * RECORD_BYTES));
    }
  }
}

function shuffle(order: Uint32Array, random: Random): void {
  for (let i = order.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    const kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
}

function fnv1a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash >>> 0;
}

/** Turns records into batches, in room of its own in the core's memory. */
class PackedEncoder {
  private readonly records: number;
  private readonly positions: number;
  private readonly repetitions: number;
  private readonly planes: number;

  constructor(
    readonly capacity: number,
    private readonly options: PackedOptions,
  ) {
    this.records = core.allocate(capacity * RECORD_BYTES);
    this.positions = core.allocate(capacity * POSITION_BYTES);
    this.repetitions = core.allocate(capacity);
    this.planes = core.allocate(capacity * ROW_LENGTHS[options.board] * 4);
  }

  encode(rows: Uint8Array): PolicyValueBatch {
    const { board, scoreScale, resultShare } = this.options;
    const count = rows.length / RECORD_BYTES;
    core.bytes.set(rows, this.records);
    wasm.unpackRecords(this.records, count, this.positions);
    if (board === "planes13") wasm.encodePlanes13(this.positions, count, this.planes);
    else wasm.encodePlanes18(this.positions, count, this.repetitions, this.planes);
    const planes = new Float32Array(core.bytes.buffer, this.planes, count * ROW_LENGTHS[board]).slice();

    const table = MOVE_TABLES[BOARDS[board].moves];
    const legal = new Uint8Array(count * table.size);
    const move = new Int32Array(count);
    const value = new Float32Array(count);
    const view = new DataView(rows.buffer, rows.byteOffset);
    for (let i = 0; i < count; i++) {
      const position = this.positions + i * POSITION_BYTES;
      const black = core.bytes[position + SIDE] === 1;
      const moves = wasm.generate(position, LIST);
      for (let k = 0; k < moves; k++) {
        legal[i * table.size + table.indexOf(core.moves[(LIST >> 1) + k], black)] = 1;
      }
      const record = i * RECORD_BYTES;
      move[i] = table.indexOf(view.getUint16(record + 34, true), black);
      const score = Math.tanh(view.getInt16(record + 32, true) / scoreScale);
      value[i] = (1 - resultShare) * score + resultShare * view.getInt8(record + 38);
    }
    return { planes, legal, move, value };
  }
}

let room: number | undefined; // for records to be checked

/** Records without a move to learn are left out, and bad ones refused, before training begins. */
function checked(path: string, records: Uint8Array): Uint8Array {
  const size = 256;
  room ??= core.allocate((RECORD_BYTES + POSITION_BYTES) * size);
  const positions = room + RECORD_BYTES * size;
  let kept = 0;
  for (let start = 0; start < records.length; start += size * RECORD_BYTES) {
    const part = records.subarray(start, start + size * RECORD_BYTES);
    const count = part.length / RECORD_BYTES;
    core.bytes.set(part, room);
    const good = wasm.unpackRecords(room, count, positions);
    if (good < count) throw badRecord(path, start / RECORD_BYTES + good, "its position is not one of chess");
    for (let i = 0; i < count; i++) {
      const at = i * RECORD_BYTES;
      const move = part[at + 34] | (part[at + 35] << 8);
      if (move === 0) continue;
      const moves = wasm.generate(positions + i * POSITION_BYTES, LIST);
      if (!core.moves.subarray(LIST >> 1, (LIST >> 1) + moves).includes(move))
        throw badRecord(path, start / RECORD_BYTES + i, "its move is not legal");
      records.copyWithin(kept, start + at, start + at + RECORD_BYTES);
      kept += RECORD_BYTES;
    }
  }
  return records.subarray(0, kept);
}

const badRecord = (path: string, record: number, what: string) =>
  new UserError(
    "DATA_RECORD",
    `${path}: record ${record}: ${what}. Leave bad records out with: tabiya data convert ${path} -o NEW.bin`,
  );

async function readRecords(path: string): Promise<Uint8Array> {
  if (formatOf(path) === "bin") {
    const bytes = (await readBytes(path)).slice();
    if (bytes.length % RECORD_BYTES !== 0)
      throw new UserError("DATA_LENGTH", `${path}: ${bytes.length} bytes are no whole number of 40-byte records.`);
    return checked(path, bytes);
  }
  const parts: Uint8Array[] = [];
  for await (const records of await openRecords(path)) {
    const part = new Uint8Array(records.length * RECORD_BYTES);
    records.forEach((record, i) => {
      encodePacked(record, part.subarray(i * RECORD_BYTES, (i + 1) * RECORD_BYTES));
    });
    parts.push(part);
  }
  return checked(path, concatBytes(parts));
}

/** Reads files of scored positions with moves: .bin, .binpack, .plain or JSONL with the same fields. */
export async function loadPacked(paths: readonly string[], options: PackedOptions): Promise<PackedSource> {
  const parts: Uint8Array[] = [];
  for (const path of paths) parts.push(await readRecords(path));
  const whole = concatBytes(parts);
  if (whole.length === 0)
    throw new UserError("DATA_NONE", `${paths.join(", ") || "no file"}: no position with a move to learn from.`);
  return new PackedSource(options.limit ? whole.subarray(0, options.limit * RECORD_BYTES) : whole, options);
}
