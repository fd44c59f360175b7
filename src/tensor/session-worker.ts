import { assert, serve, Transferred } from "#base";
import { loadRuntime } from "#runtime";
import { type CachedPlan, CachedRun } from "./cached-run.js";
import type { Replica } from "./replicas.js";
import { createSession, unwrap, wrapFeeds } from "./runner.js";
import { buffersOf, type Feeds, type RunOptions, type SessionOptions, type TensorData } from "./session.js";
import type { RunRequest, TrainerState, TrainingPlan, UpdateRequest } from "./training-plan.js";
import { TrainingRun } from "./training-run.js";

const sessions: Awaited<ReturnType<typeof createSession>>[] = []; // by their models
let cached: CachedRun | undefined;
let training: TrainingRun | undefined;

const run = (): TrainingRun => {
  assert(training, "no training was opened");
  return training;
};

const buffersIn = (results: Record<string, TensorData>) => [
  ...new Set(Object.values(results).map(({ data }) => data.buffer as ArrayBuffer)),
];

interface RunArgument {
  feeds: Feeds;
  model: number;
  lend: boolean;
  pick?: RunOptions["pick"];
}

function pickValues({ data, dtype }: TensorData, places: Int32Array): TensorData {
  const picked = new (data.constructor as Float32ArrayConstructor)(places.length);
  for (let i = 0; i < places.length; i++) picked[i] = (data as Float32Array)[places[i]];
  return { data: picked, shape: [places.length], dtype };
}

serve({
  async loadRuntime({ device = "cpu" }: SessionOptions) {
    await loadRuntime(device);
  },
  async open({ index, model, options }: { index: number; model: Uint8Array; options: SessionOptions }) {
    sessions[index] = await createSession(model, options);
    const { session } = sessions[index];
    return { inputs: session.inputNames, outputs: session.outputNames };
  },
  async run({ feeds, model, lend, pick = {} }: RunArgument) {
    assert(sessions[model], "no session was opened");
    const { runtime, session } = sessions[model];
    const results = unwrap(await session.run(wrapFeeds(runtime, session.inputMetadata, feeds)));
    for (const [name, places] of Object.entries(pick)) results[name] = pickValues(results[name], places);
    const returned = lend ? buffersOf(feeds) : [];
    return new Transferred({ results, returned }, [...buffersIn(results), ...returned]);
  },

  async openCached(plan: CachedPlan) {
    cached = await CachedRun.open(plan);
  },
  async runCached({ model, feeds }: { model: string; feeds: Feeds }) {
    assert(cached, "no cached session was opened");
    const results = await cached.run(model, feeds);
    return new Transferred(results, buffersIn(results));
  },
  truncate: (length: number) => cached?.truncate(length),

  async openTraining({ plan, replica }: { plan: TrainingPlan; replica: Replica }) {
    training = await TrainingRun.open(plan, replica);
    return training.sessionMs;
  },
  runBatches: (request: RunRequest) => run().run(request),
  addUp: (workers: number) => run().addUp(workers),
  update: (request: UpdateRequest) => run().update(request),
  readParameters: (ema: boolean) => run().readParameters(ema),
  writeParameters: (values: readonly Float32Array[]) => run().writeParameters(values),
  readState: () => run().readState(),
  writeState: (state: TrainerState) => run().writeState(state),
});
