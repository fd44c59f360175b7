// Training in the page: the program's own import, loop and networks, with files in memory instead of on a disk. What is
// kept here lasts as long as the worker.
import { listFolder, messageOf, parentChannel, readBytes, UserError, writeFile } from "#base";
import { type ContestInput, findMistakes, inspectData, openSets, runContest, validationPath } from "#data";
import { resolvePlayer } from "#engine";
import { findWeights, loadNetwork } from "#models";
import { formatSource, type Recipe, RunFolder, readAddedMetrics, resolveRecipe, taskOf, train } from "#training";
import type { FromTrainer, ToTrainer, TrainedNetwork, TrainPlan } from "./train-protocol.js";

const RUN = "memory:run";
const DATA = "memory:data";
const HELD_OUT = 0.1; // of the games
const EPOCH_STEPS = 50; // each ends with a judgement and a network to play: every few seconds for a tiny one
const JUDGED = 1024; // positions after each epoch
const BOARDS = 48; // of them, shown
const TELL_MS = 250; // between two looks at what was measured

const channel = parentChannel();
const say = (message: FromTrainer) => channel.post(message);
let stop: AbortController | undefined;

/** The settings of a plan, as in a recipe. */
async function recipeOf({ start, steps, value, threads }: TrainPlan): Promise<Recipe> {
  const network =
    start === ""
      ? { family: "residual", size: "tiny", batchSize: 128, learningRate: 0.005, ema: 0.95 }
      : {
          ...(await loadNetwork(await findWeights(start))).network.config,
          family: start,
          start,
          batchSize: 64,
          learningRate: 0.0003,
          ema: 0.98,
          valueWeight: 0.3,
        };
  const epochPositions = EPOCH_STEPS * network.batchSize;
  return resolveRecipe(
    {
      ...network,
      epochs: Math.max(1, Math.round(steps / EPOCH_STEPS)),
      epochPositions,
      resultShare: value === "result" ? 1 : 0,
      validationLimit: JUDGED,
      warmupSteps: 10,
      finalRate: 0.05,
      logSteps: 5,
      saveSteps: 1_000_000, // only epochs are kept: without a disk there is no crash to come back from
      threads,
    },
    "settings",
  );
}

async function learn(plan: TrainPlan, resume: boolean, signal: AbortSignal): Promise<void> {
  const recipe = await recipeOf(plan);
  const { player, address: path } = plan;
  const resultShare = plan.value === "result" ? 1 : 0;
  const sets = { folder: DATA, resultShare, signal, note: (text: string) => say({ type: "note", text }) };
  const source = { path, ...(player !== "" && { player }) };
  const set = formatSource({ ...source, heldOut: HELD_OUT });
  const task = taskOf(recipe.train.family);
  const [learnt] = await openSets([set], { ...sets, role: "learn" }).catch((error: unknown) => {
    // So few games that none can be held out: all are learnt from.
    if (!(error instanceof UserError && error.code === "DATA_EMPTY")) throw error;
    return openSets([formatSource(source)], { ...sets, role: "learn" });
  });
  const judged = validationPath(learnt);
  const hasUnseen = (await listFolder(DATA))?.includes(judged.slice(DATA.length + 1));
  const data = await task.open([learnt], recipe);
  const validation = hasUnseen ? await task.open([judged], recipe) : undefined;
  say({ type: "begun", positions: data.positions, unseen: validation?.positions ?? 0 });
  const run = new Telling(validation ? judged : learnt, resultShare, signal);
  const timer = setInterval(() => void run.tellMetrics(), TELL_MS);
  try {
    const { stopped } = await train(recipe, {
      run: RUN,
      data,
      validation,
      resume,
      signal,
      now: Date.now,
      onProgress: (report) => say({ type: "step", report }),
      onEpoch: () => run.tellNetwork(),
    });
    await run.tellMetrics();
    if (stopped === "interrupted") await run.tellNetwork();
    say({ type: "ended", isWhole: stopped !== "interrupted" });
  } finally {
    clearInterval(timer);
    await data.close();
    await validation?.close();
  }
}

/** Tells the page what a run in memory comes to. */
class Telling {
  private told = 0; // bytes of the metrics

  constructor(
    private readonly shown: string, // positions to show
    private readonly resultShare: number,
    private readonly signal: AbortSignal,
  ) {}

  async tellMetrics(): Promise<void> {
    const { lines, to, isResumed } = await readAddedMetrics(RUN, this.told);
    this.told = to;
    const all = isResumed ? await (await RunFolder.open(RUN)).metrics() : lines;
    if (all.length > 0) say({ type: "metrics", lines: all, isResumed });
  }

  async tellNetwork(): Promise<void> {
    const checkpoint = await (await RunFolder.open(RUN)).latest();
    if (!checkpoint) return;
    const { path, epoch, step } = checkpoint;
    const bytes = (await readBytes(await findWeights(path))).slice();
    const network: TrainedNetwork = { epoch, step, bytes };
    const player = await resolvePlayer(`${path}@none`);
    const judging = { sample: BOARDS, resultShare: this.resultShare };
    const boards = this.signal.aborted ? [] : await findMistakes(player, this.shown, judging);
    await player.close();
    say({ type: "network", network, boards });
  }
}

async function match(network: Uint8Array, games: number, signal: AbortSignal): Promise<void> {
  const path = `memory:match-${Date.now()}.safetensors`;
  await writeFile(path, network);
  const spec: ContestInput = {
    kind: "match",
    players: [`${path}@none`, "random"],
    games,
    adjudication: { material: { points: 12, moves: 6 }, maxMoves: 120 },
  };
  const result = await runContest(spec, {
    signal,
    onEvent(event) {
      if (event.type === "state" && event.state.kind === "match")
        say({ type: "matched", state: event.state, isOver: false });
    },
  });
  if (result.kind === "match") say({ type: "matched", state: result, isOver: true });
}

async function answer(message: ToTrainer): Promise<void> {
  if (message.type === "stop") {
    stop?.abort();
    return;
  }
  try {
    stop = new AbortController();
    const { signal } = stop;
    if (message.type === "look") say({ type: "looked", games: await inspectData(message.address) });
    else if (message.type === "train") await learn(message.plan, message.resume, signal);
    else await match(message.network, message.games, signal);
  } catch (error) {
    if (stop?.signal.aborted) say({ type: "ended", isWhole: false });
    else say({ type: "failed", message: messageOf(error) });
  }
}

channel.listen((message) => void answer(message as ToTrainer));
