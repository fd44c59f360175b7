import { messageOf } from "#base";
import type { Exchange, Precision, Round } from "#training";
import { sha256 } from "../stores/hash.js";
import type { FileStore } from "../stores/store.js";
import type { Board } from "./board.js";
import {
  BEAT_MS,
  GONE_MS,
  isName,
  POLL_MS,
  Pulse,
  pause,
  type RoundMessage,
  readWorker,
  roundKey,
  TRAININGS,
  type TrainingMessage,
  type WorkerMessage,
  workersKey,
} from "./messages.js";
import { decodeNumbers, encodedBytes, Rounding } from "./precision.js";

export interface LeaderOptions {
  id: string; // the same when a run is resumed: helpers that still wait go on
  board: Board;
  store: FileStore;
  offer: string; // hash of the file that says what to train on what
  precision: Precision;
  workers?: number; // to wait for before the first round, this one counted
  signal?: AbortSignal;
  note?: (text: string) => void;
  onRound?: (report: RoundReport) => void;
  pollMs?: number;
  goneMs?: number;
  /**
   * How long those who are not done are waited for when the leader is, and then once more when they were told to give what
   * they have. By default a quarter of the time the round took.
   */
  waitMs?: number;
}

export interface RoundReport {
  step: number; // of the run, at its beginning
  workers: number; // that took part, the leader counted
  steps: number; // that they took together
}

interface Helper {
  pulse: Pulse;
  shard: number;
  said: WorkerMessage;
  settled: string; // the last round whose result of it was used, late or refused
}

/**
 * The training that judges, saves and decides, and is a worker like the others: each round begins with its weights. Helpers
 * may come and go; one that is late is named, and what it did in that round is lost. Nobody is
 * waited for longer than twice `waitMs`.
 */
export class Leader implements Exchange {
  private readonly helpers = new Map<string, Helper>();
  private readonly rounding: Rounding;
  private timer: ReturnType<typeof setInterval> | undefined;
  private beat = 0;
  private round: RoundMessage | undefined;
  private shared: Float32Array = new Float32Array(0); // the weights of the round as all have them
  private files: string[] = []; // of this round, removed with the next
  private beganMs = 0;

  constructor(private readonly options: LeaderOptions) {
    this.rounding = new Rounding(options.precision);
  }

  /** Tells the board of the training, and that it lives. */
  async start(): Promise<void> {
    await this.show();
    this.timer = setInterval(() => void this.show().catch(() => {}), BEAT_MS); // Redis may be away; it comes back
    this.timer.unref?.();
  }

  private show(): Promise<void> {
    const { board, id, offer } = this.options;
    return board.set(TRAININGS, id, JSON.stringify({ offer, beat: ++this.beat } satisfies TrainingMessage));
  }

  /** Lets the helpers go. */
  async close(): Promise<void> {
    const { board, store, id } = this.options;
    clearInterval(this.timer);
    await board.remove(TRAININGS, id);
    await board.remove(roundKey(id), "now");
    for (const file of this.files) await store.remove(file);
  }

  async begin(round: Round, weights: Float32Array): Promise<Float32Array> {
    const { board, store, id } = this.options;
    const last = this.round;
    await this.look();
    if (!last) await this.gather();
    for (const file of this.files.splice(0)) await store.remove(file);
    const helpers = [...this.helpers].filter(([, { said }]) => !said.leaving);
    const shards = Object.fromEntries(helpers.map(([name, { shard }]) => [name, shard]));
    const message = { ...round, shards, closing: false };
    const put = async (bytes: Uint8Array) => {
      const file = await store.put(bytes);
      this.files.push(file);
      return file;
    };
    if (last && helpers.length > 0 && helpers.every(([, { said }]) => said.have === last.base)) {
      const { shared } = this;
      const { bytes, read } = this.rounding.encode(weights.map((weight, i) => weight - shared[i]));
      this.shared = shared.map((weight, i) => weight + read[i]);
      this.round = await this.named(message, { update: { from: last.base, file: await put(bytes) } });
    } else {
      this.rounding.forget();
      this.shared = weights;
      const file = helpers.length > 0 ? { weights: await put(bytesOf(weights)) } : {}; // alone, nobody needs them
      this.round = await this.named(message, file);
    }
    this.beganMs = performance.now();
    await board.set(roundKey(id), "now", JSON.stringify(this.round));
    return this.shared;
  }

  private async named(
    message: Omit<RoundMessage, "id" | "base">,
    file: Pick<RoundMessage, "weights" | "update">,
  ): Promise<RoundMessage> {
    const base = await sha256(bytesOf(this.shared));
    return { ...message, ...file, base, id: `${message.step}:${base}` };
  }

  async end(difference: Float32Array): Promise<Float32Array | undefined> {
    const round = this.round!;
    const given = await this.collect(round);
    const sum = Float64Array.from(difference, (value) => value * round.steps);
    let steps = round.steps;
    let workers = 1;
    for (const [name, helper] of given) {
      const mean = await this.take(name, helper, round, difference.length);
      if (!mean) continue;
      const taken = helper.said.given?.steps ?? 0;
      for (let i = 0; i < sum.length; i++) sum[i] += mean[i] * taken;
      steps += taken;
      workers++;
    }
    this.options.onRound?.({ step: round.step, workers, steps });
    return workers === 1 ? undefined : Float32Array.from(sum, (value) => value / steps);
  }

  /** Waits for those who take part; who has given something, in the order of their shards. */
  private async collect(round: RoundMessage): Promise<[string, Helper][]> {
    const { board, id } = this.options;
    const took = performance.now() - this.beganMs;
    const { waitMs = Math.max(2_000, took / 4) } = this.options;
    const taking = () => [...this.helpers].filter(([name]) => name in round.shards);
    const hasGiven = ([, { said }]: [string, Helper]) => said.given?.round === round.id;
    const wait = async (ms: number) => {
      const until = performance.now() + ms;
      for (;;) {
        await this.look();
        if (taking().every(hasGiven) || performance.now() > until) return;
        await pause(this.pollMs);
      }
    };
    await wait(waitMs);
    if (!taking().every(hasGiven)) {
      await board.set(roundKey(id), "now", JSON.stringify({ ...round, closing: true }));
      await wait(waitMs); // for a step to end and its bytes to come
    }
    return taking()
      .filter(hasGiven)
      .sort(([, a], [, b]) => a.shard - b.shard);
  }

  /** What a helper gave for the round, if it can be used. */
  private async take(
    name: string,
    helper: Helper,
    round: RoundMessage,
    count: number,
  ): Promise<Float32Array | undefined> {
    const { store, precision } = this.options;
    const { given } = helper.said;
    if (!given || helper.settled === given.round) return undefined;
    helper.settled = given.round;
    try {
      if (given.steps === 0) throw new Error(given.reason);
      if (given.steps > round.steps) throw new Error(`${given.steps} steps in a round of ${round.steps}.`);
      const bytes = await store.get(given.file, "", encodedBytes(count, precision));
      if (!bytes) throw new Error("the file is missing, damaged or too large.");
      return decodeNumbers(bytes, precision, count);
    } catch (error) {
      this.say(`${name}: nothing to use from the round at step ${round.step}: ${messageOf(error)}`);
      return undefined;
    } finally {
      if (given.file) await store.remove(given.file);
    }
  }

  /** Looks who is there: newcomers get a shard, those without a beat for too long are gone, and what came too late is dropped. */
  private async look(): Promise<void> {
    const { board, store, id, goneMs = GONE_MS } = this.options;
    const found = await board.read(workersKey(id));
    for (const [name, text] of Object.entries(found)) {
      const said = isName(name) ? readWorker(text) : undefined;
      if (!said) {
        await board.remove(workersKey(id), name);
        continue;
      }
      const known = this.helpers.get(name);
      const helper = known ?? { pulse: new Pulse(), shard: this.freeShard(), said, settled: "" };
      helper.said = said;
      const { given } = said;
      const isOver = said.leaving && (given?.round !== this.round?.id || given?.round === helper.settled);
      const isGone = !said.leaving && helper.pulse.stillMs(said.beat, performance.now()) > goneMs;
      if (isOver || isGone) {
        await board.remove(workersKey(id), name);
        this.leave(name, isOver ? "it left" : "no sign of life");
        continue;
      }
      if (!known) {
        this.helpers.set(name, helper);
        this.say(`${name} has come; ${this.helpers.size + 1} workers`);
      }
      if (given && given.round !== this.round?.id && helper.settled !== given.round) {
        helper.settled = given.round;
        this.say(`${name}: too late for the round at step ${given.round.split(":")[0]}; dropped`);
        if (given.file) await store.remove(given.file);
      }
    }
    for (const name of this.helpers.keys()) if (!(name in found)) this.leave(name, "it left");
  }

  private leave(name: string, why: string): void {
    if (this.helpers.delete(name)) this.say(`${name} is gone (${why}); ${this.helpers.size + 1} workers`);
  }

  /** Waits for as many workers as were asked for. */
  private async gather(): Promise<void> {
    const { workers = 1, signal } = this.options;
    if (this.helpers.size + 1 < workers) this.say(`waiting for ${workers - 1 - this.helpers.size} more workers`);
    while (this.helpers.size + 1 < workers) {
      signal?.throwIfAborted();
      await pause(this.pollMs);
      await this.look();
    }
  }

  private freeShard(): number {
    const taken = new Set([...this.helpers.values()].map(({ shard }) => shard));
    let shard = 1;
    while (taken.has(shard)) shard++;
    return shard;
  }

  private get pollMs(): number {
    return this.options.pollMs ?? POLL_MS;
  }

  private say(text: string): void {
    this.options.note?.(text);
  }
}

export const bytesOf = (numbers: Float32Array): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
