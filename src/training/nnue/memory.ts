import { compileWasm, createMemory, WasmInstance } from "#base";
import { core } from "#chess";
import type { Nnue } from "#models";
import { type Optimiser, type Parameter, parametersOf, RULE_BYTES, type TrainKernels } from "#tensor";
import {
  DENSE_AT,
  DENSE_BYTES_AT,
  FACTS_AT,
  FIRST_BIASES_AT,
  FIRST_WEIGHTS_AT,
  HIDDEN_AT,
  INPUTS_AT,
  KINDS_AT,
  KINGS_AT,
  LAYERS_AT,
  LOGIT_AT,
  NUMBERS_AT,
  ON_COUNTS_AT,
  ON_KINDS_AT,
  ORDER_AT,
  OUTPUT_BIASES_AT,
  OUTPUT_WEIGHTS_AT,
  OUTPUTS_AT,
  PLAN_BYTES,
  POINTS_AT,
  RESULT_SHARE_AT,
  ROWS_AT,
  SCORE_LOGIT_AT,
  SECOND_BIASES_AT,
  SECOND_WEIGHTS_AT,
  SLOTS_AT,
  STARTS_AT,
  SUMS_AT,
} from "./plan.js";

/** The functions of assembly/train for these networks, beside the optimisers. */
export interface NnueKernels extends TrainKernels {
  nnueKings(plan: number, first: number, count: number): void;
  nnueOrder(plan: number, kept: number, blocks: number, size: number, scratch: number): void;
  nnueCount(plan: number, first: number, count: number, counts: number): void;
  nnueStarts(plan: number, counts: number, threads: number): void;
  nnueSort(plan: number, first: number, count: number, starts: number): void;
  nnueGather(plan: number, king: number, slice: number, own: number, shared: number, scratch: number): void;
  nnueLearn(plan: number, first: number, count: number, scratch: number, gradient: number): number;
  nnuePredict(plan: number, first: number, count: number, scratch: number, outputs: number): number;
  nnueUpdate(
    plan: number,
    slice: number,
    rule: number,
    everyRow: boolean,
    own: number,
    own0: number,
    own1: number,
    shared: number,
    shared0: number,
    shared1: number,
    scratch: number,
  ): void;
  nnueScratchBytes(plan: number): number;
  clampRange(array: number, length: number, limit: number): void;
}

/** A batch is worked on in so many parts, whatever the number of threads: so sums do not depend on it. */
export const BLOCKS = 16;
export const { RECORD_BYTES } = core;
export const INPUT_BYTES = 128; // of a position: 2 x 32 u16
export const FACT_BYTES = 8;
const SLICE = 32; // neurons
const KINGS = 64; // king buckets at most

/** What a position is to teach. */
export interface NnueTarget {
  scoreScale: number; // centipawns k in the expected score 1 / (1 + exp(-score / k))
  resultShare: number; // how much of the target is the game's result instead of the score
  quiet: boolean; // only positions without a check, a capture or a promotion to be played
  scoreLimit: number; // centipawns beyond which a position teaches nothing
}

/** One parameter, all that belongs to it. Addresses; 0 where there is nothing. */
export interface Region {
  name: string;
  shape: readonly number[];
  length: number; // floats
  parameter: number;
  gradient: number; // 0 in the first layer, whose gradients are nowhere kept
  slots: number[];
  average: number;
  limit: number; // largest weight that survives quantisation; 0 for any
  sliced: boolean; // lies in slices of neurons, as the weights of the first layer do
}

/** Where everything lies in the shared memory; plain data, for every thread the same. */
export interface NnueMemory {
  memory: WebAssembly.Memory;
  plan: number; // what assembly/train/nnue.ts reads
  layout: Uint8Array; // which inputs a position has on
  hidden: number;
  rows: number;
  kings: number; // king buckets: each has inputs of its own
  slices: number;
  blockPositions: number;
  features: Region;
  shared: Region | undefined;
  dense: Region[]; // biases of the first layer, and what comes behind; one behind the other, so are their gradients
  denseBytes: number;
  denseGradient: number;
  blockGradients: number; // [BLOCKS] x denseBytes
  records: number; // [slots] x RECORD_BYTES
  inputs: number;
  facts: number;
  kept: number; // i32 [BLOCKS]: positions of the block that teach
  losses: number; // f64 [BLOCKS]
  outputs: number; // f32 [slots]
  counts: number; // [threads] x countBytes: how often each input is on and each king is there
  countBytes: number;
  scratch: number[]; // of each thread
  rules: number[]; // of each thread: the optimiser's step for the weights of the first layer
  control: number; // i32 [CONTROLS]
  threads: number;
  quiet: boolean;
  scoreLimit: number;
}

/** Words of `control`. */
export const ARRIVED = 0;
export const GENERATION = 1;
export const BAD = 2; // 1 + the first bad record
export const WORK = 3; // and on: who takes the next piece of work, by phase
export const CONTROLS = 16;

const padded = (floats: number) => Math.ceil(floats / 16) * 16;

export interface MemoryOptions {
  batchSize: number;
  threads: number;
  target: NnueTarget;
  optimiser?: Optimiser; // none: only to predict
  average?: boolean; // keep a moving average
}

/** Makes room for a network, its gradients and one batch. The network's weights are not copied yet. */
export async function layOutMemory(
  network: Nnue,
  { batchSize, threads, target, optimiser, average }: MemoryOptions,
): Promise<{ layout: NnueMemory; kernels: NnueKernels }> {
  const memory = createMemory({ shared: true });
  const wasm = new WasmInstance<NnueKernels>(await compileWasm("train-shared"), memory);
  const { hidden } = network.config;
  const { rows, kinds } = network.shape;
  const blockPositions = Math.ceil(batchSize / BLOCKS);
  const slots = blockPositions * BLOCKS;
  const limits = network.limits();

  const parameters = parametersOf(network);
  const region = (parameter: Parameter, address: number, gradient: number, sliced = false): Region => {
    const length = parameter.data.length;
    return {
      name: parameter.name,
      shape: parameter.shape as readonly number[],
      length,
      parameter: address,
      gradient,
      slots: (optimiser?.slots ?? []).map(() => wasm.allocate(length * 4)),
      average: average ? wasm.allocate(length * 4) : 0,
      limit: limits.get(parameter) ?? 0,
      sliced,
    };
  };
  const big = (parameter: Parameter) => region(parameter, wasm.allocate(parameter.data.length * 4), 0, true);
  const features = big(network.features);
  const shared = network.shared && big(network.shared);
  const others = parameters.filter((parameter) => parameter !== network.features && parameter !== network.shared);
  const denseBytes = others.reduce((sum, { data }) => sum + padded(data.length) * 4, 0);
  const denseAt = wasm.allocate(denseBytes);
  const denseGradient = wasm.allocate(denseBytes);
  const offsets = new Map<string, number>();
  let offset = 0;
  const dense = others.map((parameter) => {
    offsets.set(parameter.name, offset);
    const made = region(parameter, denseAt + offset, denseGradient + offset);
    offset += padded(parameter.data.length) * 4;
    return made;
  });

  const plan = wasm.allocate(PLAN_BYTES);
  const inputs = wasm.allocate(slots * INPUT_BYTES);
  const facts = wasm.allocate(slots * FACT_BYTES);
  const offsetOf = (name: string) => offsets.get(name) ?? 0;
  const fields: readonly (readonly [at: number, value: number])[] = [
    [HIDDEN_AT, hidden],
    [ROWS_AT, rows],
    [KINDS_AT, kinds],
    [SLOTS_AT, slots],
    [LAYERS_AT, network.first ? 1 : 2],
    [OUTPUTS_AT, network.config.outputs],
    [INPUTS_AT, inputs],
    [FACTS_AT, facts],
    [NUMBERS_AT, wasm.allocate(slots * 2 * 4)],
    [SUMS_AT, wasm.allocate(slots * 2 * hidden * 4)],
    [STARTS_AT, wasm.allocate((rows + 1) * 4)],
    [POINTS_AT, wasm.allocate(slots * INPUT_BYTES * 2)],
    [DENSE_AT, denseAt],
    [DENSE_BYTES_AT, denseBytes],
    [FIRST_WEIGHTS_AT, offsetOf("first.weight")],
    [FIRST_BIASES_AT, offsetOf("first.bias")],
    [SECOND_WEIGHTS_AT, offsetOf("second.weight")],
    [SECOND_BIASES_AT, offsetOf("second.bias")],
    [OUTPUT_WEIGHTS_AT, offsetOf("output.weight")],
    [OUTPUT_BIASES_AT, offsetOf("output.bias")],
    [KINGS_AT, wasm.allocate((KINGS + 1) * 4)],
    [ON_KINDS_AT, wasm.allocate(slots * INPUT_BYTES * 2)],
    [ON_COUNTS_AT, wasm.allocate(slots * 2)],
    [ORDER_AT, wasm.allocate(slots * 4)],
  ];
  const laidOut: NnueMemory = {
    memory,
    plan,
    layout: network.layout(),
    hidden,
    rows,
    kings: rows / kinds,
    slices: hidden / SLICE,
    blockPositions,
    features,
    shared,
    dense,
    denseBytes,
    denseGradient,
    blockGradients: optimiser ? wasm.allocate(BLOCKS * denseBytes) : 0,
    records: wasm.allocate(slots * RECORD_BYTES),
    inputs,
    facts,
    kept: wasm.allocate(BLOCKS * 4),
    losses: wasm.allocate(BLOCKS * 8),
    outputs: wasm.allocate(slots * 4),
    counts: wasm.allocate(threads * (rows + KINGS) * 4),
    countBytes: (rows + KINGS) * 4,
    scratch: [],
    rules: Array.from({ length: threads }, () => wasm.allocate(RULE_BYTES)),
    control: wasm.allocate(CONTROLS * 4),
    threads,
    quiet: target.quiet,
    scoreLimit: target.scoreLimit,
  };
  const view = new DataView(memory.buffer, plan, PLAN_BYTES);
  for (const [at, value] of fields) view.setInt32(at, value, true);
  view.setFloat32(LOGIT_AT, network.centipawns / target.scoreScale, true);
  view.setFloat32(SCORE_LOGIT_AT, 1 / target.scoreScale, true);
  view.setFloat32(RESULT_SHARE_AT, target.resultShare, true);
  const scratchBytes = wasm.exports.nnueScratchBytes(plan);
  laidOut.scratch = Array.from({ length: threads }, () => wasm.allocate(scratchBytes));
  return { layout: laidOut, kernels: wasm.exports };
}

/** Where each parameter lies. */
export const regionsOf = ({ features, shared, dense }: NnueMemory): Region[] => [
  features,
  ...(shared ? [shared] : []),
  ...dense,
];

/** For each run of numbers that lie together in both: where it begins in memory, and in the parameter's own order. */
function* runsOf(
  { hidden }: NnueMemory,
  { sliced, length }: Region,
): Generator<[lying: number, own: number, size: number]> {
  if (!sliced) {
    yield [0, 0, length];
    return;
  }
  const rows = length / hidden;
  for (let lying = 0; lying < length; lying += SLICE) {
    const [slice, row] = [Math.floor(lying / SLICE / rows), (lying / SLICE) % rows];
    yield [lying, row * hidden + slice * SLICE, SLICE];
  }
}

/** One of the arrays of a parameter, in the parameter's own order. */
export function readRegion(m: NnueMemory, region: Region, address: number): Float32Array {
  const memory = new Float32Array(m.memory.buffer, address, region.length);
  const data = new Float32Array(region.length);
  for (const [lying, own, size] of runsOf(m, region)) data.set(memory.subarray(lying, lying + size), own);
  return data;
}

/** The way back. */
export function writeRegion(m: NnueMemory, region: Region, address: number, data: Float32Array): void {
  const memory = new Float32Array(m.memory.buffer, address, region.length);
  for (const [lying, own, size] of runsOf(m, region)) memory.set(data.subarray(own, own + size), lying);
}
