import { assert, serve, Transferred } from "#base";
import type { Replica } from "./replicas.js";
import { createSession, unwrap, wrapFeeds } from "./runner.js";
import type { Feeds, SessionOptions } from "./session.js";
import {
  type RunRequest,
  type TrainerState,
  type TrainingPlan,
  TrainingRun,
  type UpdateRequest,
} from "./training-run.js";

let opened: Awaited<ReturnType<typeof createSession>> | undefined;
let training: TrainingRun | undefined;

const run = (): TrainingRun => {
  assert(training, "no training was opened");
  return training;
};

serve({
  async open({ model, options }: { model: Uint8Array; options: SessionOptions }) {
    opened = await createSession(model, options);
    return { inputs: opened.session.inputNames, outputs: opened.session.outputNames };
  },
  async run(feeds: Feeds) {
    assert(opened, "no session was opened");
    const { runtime, session } = opened;
    const results = unwrap(await session.run(wrapFeeds(runtime, session.inputMetadata, feeds)));
    return new Transferred(results, [...new Set(Object.values(results).map(({ data }) => data.buffer as ArrayBuffer))]);
  },

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
