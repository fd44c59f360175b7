/** The worker's side of sessions: ONNX Runtime, feeds and results. */
import { messageOf, type Runtime, runtimeFillsOutputs, suggestion, UserError } from "#base";
import { loadRuntime } from "#runtime";
import type { DType } from "./graph.js";
import { DEVICES, type Feeds, type SessionOptions, type TensorData, type Values } from "./session.js";

export type RuntimeSession = Awaited<ReturnType<Runtime["InferenceSession"]["create"]>>;
type RuntimeTensor = InstanceType<Runtime["Tensor"]>;

/** What ORT says about an input. */
interface Metadata {
  name: string;
  isTensor: boolean;
  type?: string;
  shape?: readonly (number | string)[];
}

export async function createSession(
  model: Uint8Array,
  { device = "cpu", threads = 0 }: SessionOptions,
  rewriting: "all" | "basic" = "all", // how much ONNX Runtime may change the model
) {
  if (!DEVICES.includes(device)) {
    throw new UserError(
      "DEVICE_UNKNOWN",
      `There is no device "${device}".${suggestion(device, DEVICES)}\nThe devices are: ${DEVICES.join(", ")}.`,
    );
  }
  const runtime = await loadRuntime(device);
  // What goes wrong with a device is said by our own message.
  if (device !== "cpu") runtime.env.logLevel = "fatal";
  try {
    const session = await runtime.InferenceSession.create(model, {
      executionProviders: [device],
      graphOptimizationLevel: rewriting,
      ...(threads > 0 ? { intraOpNumThreads: threads } : {}),
      logSeverityLevel: device === "cpu" ? 3 : 4,
      // Two sessions used in turn (a match, training beside validation) slow each other down if idle threads spin.
      extra: { session: { force_spinning_stop: "1" } },
    });
    return { runtime, session };
  } catch (error) {
    if (device === "cpu") throw error;
    throw new UserError(
      "DEVICE_MISSING",
      `The device "${device}" cannot be used here: ${messageOf(error).split("\n")[0]}\n` +
        `Use device "cpu", or install an ONNX Runtime with ${device} (for Node: its onnxruntime-node libraries and drivers).`,
      { cause: error },
    );
  }
}

/** The name of the output that keeps ONNX Runtime from copying the others; see `runInto`. */
export const STOP = "stop";
const STOPPED = /non tensor type/i;

/**
 * Runs a model whose results are written into the arrays of `fetches`. onnxruntime-node writes results into the memory we
 * provide, and then copies every one of them into fresh memory for its answer, a tenth of a training step's time with nine
 * million gradients. So the model has an output more, STOP, which it cannot express in JavaScript (a list): it gives up
 * before the copies, and the results are where we want them by then.
 */
export async function runInto(
  session: RuntimeSession,
  feeds: Readonly<Record<string, unknown>>,
  fetches: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (!runtimeFillsOutputs) {
    const results = await session.run(feeds as never);
    for (const [name, fetch] of Object.entries(fetches))
      (fetch as { data: Float32Array }).data.set(results[name].data as Float32Array);
    return;
  }
  try {
    await session.run(feeds as never, { [STOP]: null, ...fetches } as never);
  } catch (error) {
    if (STOPPED.test(messageOf(error))) return;
    throw error;
  }
  throw new Error("internal: ONNX Runtime answered with a list");
}

/** The shape an array has as a model's input: one unknown dimension follows from its length. */
function shapeFor({ name, shape = [] }: Metadata, length: number): number[] {
  const open = shape.filter((dim) => typeof dim !== "number");
  const known = shape.reduce<number>((size, dim) => (typeof dim === "number" ? size * dim : size), 1);
  const expected = `input "${name}" of shape [${shape.join(", ")}]`;
  if (open.length > 1) throw new UserError("FEED_SHAPE", `${expected}: say the shape, { data, shape }.`);
  if (open.length === 0 ? length !== known : length % known !== 0) {
    throw new UserError(
      "FEED_SHAPE",
      `${expected} cannot take ${length} values; ${open.length ? `a multiple of ${known}` : known} fit.`,
    );
  }
  return shape.map((dim) => (typeof dim === "number" ? dim : length / known));
}

/** Wraps the caller's arrays as ONNX Runtime's tensors, without a copy. */
export function wrapFeeds(runtime: Runtime, inputs: readonly Metadata[], feeds: Feeds): Record<string, RuntimeTensor> {
  const wrapped: Record<string, RuntimeTensor> = {};
  const known = inputs.map(({ name }) => name);
  for (const name of Object.keys(feeds)) {
    if (!known.includes(name)) {
      throw new UserError(
        "FEED_NAME",
        `The model has no input "${name}".${suggestion(name, known)} It has: ${known.join(", ")}.`,
      );
    }
  }
  for (const metadata of inputs) {
    const feed = feeds[metadata.name];
    if (feed === undefined) throw new UserError("FEED_NAME", `The input "${metadata.name}" was not given.`);
    const data = ArrayBuffer.isView(feed) ? feed : feed.data;
    const shape = ArrayBuffer.isView(feed) ? shapeFor(metadata, feed.length) : feed.shape;
    wrapped[metadata.name] = tensorOf(runtime, metadata.type as DType, data, shape);
  }
  return wrapped;
}

export const tensorOf = (runtime: Runtime, dtype: DType, data: Values, shape: readonly number[]): RuntimeTensor =>
  new runtime.Tensor(dtype as "float32", data as Float32Array, shape);

/** Results as plain data. */
export function unwrap(results: Readonly<Record<string, unknown>>): Record<string, TensorData> {
  return Object.fromEntries(
    Object.entries(results).map(([name, value]) => {
      const { data, dims, type } = value as { data: Values; dims: readonly number[]; type: DType };
      return [name, { data, shape: [...dims], dtype: type }];
    }),
  );
}
