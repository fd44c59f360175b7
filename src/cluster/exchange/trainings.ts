import { messageOf } from "#base";
import { type BatchSource, type Exchange, type Recipe, RoundTrainer, taskOf } from "#training";
import { CountingStore } from "../stores/counting.js";
import { MemoryStore } from "../stores/memory.js";
import type { FileStore } from "../stores/store.js";
import { type Board, MemoryBoard } from "./board.js";
import { type HelperOptions, helpTraining } from "./helper.js";
import { Leader, type LeaderOptions, type RoundReport } from "./leader.js";
import { GONE_MS, POLL_MS, Pulse, pause, readTraining, TRAININGS } from "./messages.js";
import { openOffer, putOffer } from "./offer.js";

/** A training with others. */
export interface SharedTraining
  extends Pick<LeaderOptions, "id" | "workers" | "signal" | "note" | "pollMs" | "goneMs" | "waitMs"> {
  recipe: Recipe;
  paths: readonly string[]; // of the data, as the task opens them
  data: BatchSource; // these, opened
  onRound?: (report: RoundReport & Traffic) => void;
}

/** Bytes that went into the store and came out of it since the training began. */
export interface Traffic {
  traffic: { put: number; got: number };
}

/** Leads a training that others help with, whoever finds it on the board. */
export async function leadTraining<T>(
  { board, store }: { board: Board; store: FileStore },
  { recipe, paths, data, onRound, ...options }: SharedTraining,
  work: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const offer = await putOffer(store, recipe, paths, data.fingerprint);
  const counted = new CountingStore(store);
  const leader = new Leader({ ...options, board, store: counted, offer, precision: recipe.train.differences, onRound: (report) => onRound?.({ ...report, traffic: counted.bytes }) }); // biome-ignore format: a list
  return lead(leader, work);
}

async function lead<T>(leader: Leader, work: (exchange: Exchange) => Promise<T>): Promise<T> {
  await leader.start();
  try {
    return await work(leader);
  } finally {
    await leader.close();
  }
}

/** The same with helpers in this program, which share its cores; the traffic is that of all of them. */
export async function leadHere<T>(
  { recipe, paths, data: _, onRound, ...options }: SharedTraining,
  work: (exchange: Exchange) => Promise<T>,
): Promise<T> {
  const { workers = 1 } = options;
  const [board, store] = [new MemoryBoard(), new CountingStore(new MemoryStore())];
  const stop = new AbortController();
  const precision = recipe.train.differences;
  const helpers: Promise<void>[] = [];
  const help = async (name: string) => {
    const task = taskOf(recipe.train.family);
    const data = await task.open(paths, recipe, recipe.train.limit);
    const trainer = await RoundTrainer.open(recipe, data);
    try {
      const { pollMs, goneMs, note, id } = options;
      await helpTraining(trainer, { id, name, board, store, precision, signal: stop.signal, note, pollMs, goneMs });
    } finally {
      await trainer.close();
      await data.close();
    }
  };
  const leader = new Leader({ ...options, board, store, offer: "", precision, onRound: (report) => onRound?.({ ...report, traffic: store.bytes }) }); // biome-ignore format: a list
  try {
    return await lead(leader, async (exchange) => {
      for (let i = 1; i < workers; i++) helpers.push(help(`worker-${i}`));
      const failed = Promise.all(helpers).then(() => new Promise<never>(() => {})); // only to hear of an error
      return Promise.race([work(exchange), failed]);
    });
  } finally {
    stop.abort();
    await Promise.allSettled(helpers);
  }
}

const AGAIN_MS = 60_000; // before a training that could not be helped is tried again: its data may be there by then

/** Helps with whatever training is on the board, one after another, until the signal fires. */
export async function helpTrainings(
  options: Omit<HelperOptions, "id" | "precision"> & { cache: string; threads: number; mostBytes?: number },
): Promise<{ helped: number }> {
  const { board, signal, note, pollMs = POLL_MS, goneMs = GONE_MS } = options;
  const pulses = new Map<string, Pulse>();
  const failed = new Map<string, number>(); // offers that could not be taken, until when they are left alone
  let helped = 0;
  while (!signal.aborted) {
    for (const [id, text] of Object.entries(await board.read(TRAININGS))) {
      const training = readTraining(text);
      if (!training || (failed.get(training.offer) ?? 0) > performance.now() || signal.aborted) continue;
      const pulse = pulses.get(id) ?? new Pulse();
      pulses.set(id, pulse);
      if (pulse.stillMs(training.beat, performance.now()) > goneMs) continue;
      try {
        await helpWith(id, training.offer, options);
        helped++;
      } catch (error) {
        failed.set(training.offer, performance.now() + AGAIN_MS);
        note?.(`training ${id.slice(0, 12)}: cannot help: ${messageOf(error)}`);
      }
    }
    await pause(pollMs);
  }
  return { helped };
}

async function helpWith(id: string, offer: string, options: Parameters<typeof helpTrainings>[0]): Promise<void> {
  const { store, note } = options;
  const { recipe, data } = await openOffer(store, offer, options);
  try {
    const { family, size } = recipe.train;
    const trainer = await RoundTrainer.open(recipe, data);
    note?.(`helping with training ${id.slice(0, 12)}: ${family} ${size}, ${data.positions} positions`);
    try {
      await helpTraining(trainer, { ...options, id, precision: recipe.train.differences });
    } finally {
      await trainer.close();
    }
  } finally {
    await data.close();
  }
}
