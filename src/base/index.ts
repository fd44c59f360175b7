/**
 * Files, random numbers, statistics, threads and processes, in Node and in a page.
 *
 * @module
 */
export { AppendFile } from "./append-file.js";
export { breathe } from "./breathe.js";
export { concatBytes } from "./bytes.js";
export { assert, atPlace, messageOf, UserError } from "./errors.js";
export {
  type ByteSource,
  commitAll,
  createOutput,
  decompress,
  Output,
  openBytes,
  openRandom,
  openZip,
  type Pending,
  prepareFile,
  randomBytes,
  readBytes,
  readText,
  removeFile,
  renameFile,
  shippedPath,
  temporaryName,
  writeFile,
  type ZipMember,
} from "./files.js";
export {
  appendToFile,
  listFolder,
  makeFolder,
  mendFolder,
  removeFolder,
  replaceFolder,
} from "./folders.js";
export { workInSlots } from "./in-slots.js";
export { type LineBatch, readLineAt, readLineBatches, readLines } from "./lines.js";
export { lockFolder } from "./lock.js";
export { nearest, suggestion } from "./nearest.js";
export { parsePlain } from "./plain-data.js";
export type { Platform, Process, ProcessEnd, ProcessEvents, RandomBytes, Runtime, Scratch } from "./platform.js";
export { findProgram, isProcessAlive, processKey, startProcess } from "./processes.js";
export { mixSeed, Random } from "./random.js";
export { processors, runtimeConvolves, runtimeFillsOutputs } from "./runtime.js";
export { createScratch, Journal } from "./scratch.js";
export { type Calibrated, Calibration, type CalibrationBin } from "./statistics/calibration.js";
export { kendallTau } from "./statistics/kendall.js";
export { normalBelow, normalQuantile, Z95 } from "./statistics/normal.js";
export { compileWasm, createMemory, loadWasm, WasmInstance } from "./wasm.js";
export { WORKERS, type WorkerName } from "./worker-table.js";
export {
  type Channel,
  openWorker,
  parentChannel,
  serve,
  startWorker,
  Transferred,
  WorkerClient,
  WorkerPool,
} from "./workers.js";
