/**
 * The chess module of WebAssembly, ready to use once this file is imported (top-level await: one loader for Node and
 * the browser). Everything single-threaded shares this instance and its scratch memory; nothing here is re-entrant
 * across an await.
 */
import { loadWasm } from "#base";
import { MOVE_LIST_BYTES, POSITION_BYTES } from "./layout.js";

export * from "./layout.js";

interface ChessExports {
  init(): void;
  generate(position: number, list: number): number;
  generateNoisy(position: number, list: number): number;
  perft(position: number, depth: number, scratch: number): bigint;
  checkers(position: number): bigint;
  attackersTo(position: number, square: number, occupied: bigint): bigint;
  completePosition(position: number): void;
  epIsLegal(position: number, square: number): number;
  isInsufficient(position: number): number;
  play(position: number, move: number): void;
  parseSan(position: number, text: number, length: number, scratch: number): number;
  formatSan(position: number, move: number, text: number, scratch: number): number;
  readGame(reader: number, from: number, end: number, isLast: number, mode: number): number;
  countLines(from: number, end: number): number;
  see(position: number, move: number, gains: number): number;

  // Encoders and records: positions and rows stand behind one another in memory.
  encodeFenTokens(positions: number, count: number, out: number): void;
  readFen(text: number, length: number, position: number): number; // 0 if it is not an ordinary one
  encodeBoard68(positions: number, count: number, out: number): void;
  encodePlanes13(positions: number, count: number, out: number): void;
  encodePlanes18(positions: number, count: number, repetitions: number, out: number): void;
  encodeLc0Planes(positions: number, count: number, startKey: bigint, out: number): void;
  encodeLc0History(positions: number, known: number, count: number, startKey: bigint, out: number): void;
  encodeHalfKp(positions: number, count: number, out: number, counts: number): void;
  encodeHalfKpFor(position: number, color: number, out: number): number;
  packPosition(position: number, record: number): number;
  unpackPosition(record: number, position: number): number;
  unpackRecords(records: number, count: number, positions: number): number;
  unpackHalfKp(records: number, count: number, position: number, out: number, counts: number): number;
  readChain(data: number, end: number, out: number, position: number, list: number): number;
  chainLength(): number;
  writeChains(records: number, count: number, out: number, positions: number, list: number): number;
  packedCount(): number;
  packGame(
    start: number,
    moves: number,
    evals: number,
    keep: number,
    plies: number,
    result: number,
    scored: number,
    wide: number,
    out: number,
    keys: number,
    position: number,
  ): number;

  // Networks
  nnueBytes(network: number, plies: number): number;
  nnueStart(network: number, memory: number, plies: number): void;
  nnuePush(ply: number, position: number): void;
  nnueEvaluate(ply: number): number;
  nnueFeatures(
    layout: number,
    records: number,
    count: number,
    position: number,
    inputs: number,
    facts: number,
    quiet: boolean,
    limit: number,
  ): number;
  nnueCheck(
    starts: number,
    count: number,
    plies: number,
    seed: bigint,
    stack: number,
    list: number,
    fresh: number,
    row: number,
  ): number;
  nnueWalk(start: number, positions: number, count: number, seed: bigint, list: number): void;
  nnueTime(positions: number, count: number): bigint;
}

const MAXIMUM_DEPTH = 64; // of perft

const instance = await loadWasm<ChessExports>("chess");

export const wasm = instance.exports;
wasm.init();

/** Where the position in question is put before a call. */
export const POSITION = instance.allocate(POSITION_BYTES);
export const LIST = instance.allocate(MOVE_LIST_BYTES);
export const TEXT = instance.allocate(256);
export const SCRATCH = instance.allocate((POSITION_BYTES + MOVE_LIST_BYTES) * MAXIMUM_DEPTH);

/** Room in the core's memory for batch work; call before making views, as growing detaches them. */
export function allocate(bytes: number): number {
  const address = instance.allocate(bytes);
  refresh();
  return address;
}

export let bytes: Uint8Array = new Uint8Array(instance.memory.buffer);
export let moves: Uint16Array = new Uint16Array(instance.memory.buffer);
export let words: Int32Array = new Int32Array(instance.memory.buffer);

function refresh(): void {
  if (bytes.buffer === instance.memory.buffer) return;
  bytes = new Uint8Array(instance.memory.buffer);
  moves = new Uint16Array(instance.memory.buffer);
  words = new Int32Array(instance.memory.buffer);
}

/** Writes ASCII text for the core to read and returns its length; longer than any move is cut. */
export function putText(text: string): number {
  const length = Math.min(text.length, 250);
  for (let i = 0; i < length; i++) bytes[TEXT + i] = Math.min(text.charCodeAt(i), 127);
  return length;
}
