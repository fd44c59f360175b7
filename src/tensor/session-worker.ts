import { assert, serve, Transferred } from "#base";
import { type CachedPlan, CachedRun } from "./cached-run.js";
import type { Replica } from "./replicas.js";
import { createSession, unwrap, wrapFeeds } from "./runner.js";
import type { Feeds, SessionOptions, TensorData } from "./session.js";
import {
  type RunRequest,
  type TrainerState,
  type TrainingPlan,
  TrainingRun,
  type UpdateRequest,
} from "./training-run.js";

let opened: Awaited<ReturnType<typeof createSession>> | undefined;
let cached: CachedRun | undefined;
let training: TrainingRun | undefined;

const run = (): TrainingRun => {
  assert(training, "no training was opened");
  return training;
};

const handOver = (results: Record<string, TensorData>) =>
  new Transferred(results, [...new Set(Object.values(results).map(({ data }) => data.buffer as ArrayBuffer))]);

serve({
  async open({ model, options }: { model: Uint8Array; options: SessionOptions }) {
    opened = await createSession(model, options);
    return { inputs: opened.session.inputNames, outputs: opened.session.outputNames };
  },
  async run(feeds: Feeds) {
    assert(opened, "no session was opened");
    const { runtime, session } = opened;
    return handOver(unwrap(await session.run(wrapFeeds(runtime, session.inputMetadata, feeds))));
  },

  async openCached(plan: CachedPlan) {
    cached = await CachedRun.open(plan);
  },
  async runCached({ model, feeds }: { model: string; feeds: Feeds }) {
    assert(cached, "no cached session was opened");
    return handOver(await cached.run(model, feeds));
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
