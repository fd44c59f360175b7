import { messageOf, UserError } from "#base";
import type { Precision, RoundTrainer } from "#training";
import { sha256 } from "../stores/hash.js";
import type { FileStore } from "../stores/store.js";
import type { Board } from "./board.js";
import { bytesOf } from "./leader.js";
import {
  BEAT_MS,
  GONE_MS,
  POLL_MS,
  Pulse,
  pause,
  type RoundMessage,
  readRound,
  readTraining,
  roundKey,
  TRAININGS,
  type WorkerMessage,
  workersKey,
} from "./messages.js";
import { decodeNumbers, encodedBytes, Rounding } from "./precision.js";

export interface HelperOptions {
  id: string; // of the training
  name: string; // of this helper, no other's
  board: Board;
  store: FileStore;
  precision: Precision;
  signal: AbortSignal; // gives what it has and leaves
  note?: (text: string) => void;
  pollMs?: number;
  goneMs?: number;
}

/** Takes rounds of a training until it ends, its leader is gone, or the signal fires. */
export async function helpTraining(trainer: RoundTrainer, options: HelperOptions): Promise<void> {
  const helper = new Helper(trainer, options);
  await helper.run();
}

class Helper {
  private readonly said: WorkerMessage = { beat: 0, have: "" };
  private weights: Float32Array | undefined; // whose hash is `said.have`
  private readonly rounding: Rounding;

  constructor(
    private readonly trainer: RoundTrainer,
    private readonly options: HelperOptions,
  ) {
    this.rounding = new Rounding(options.precision);
  }

  async run(): Promise<void> {
    const { board, id, name, signal, goneMs = GONE_MS, pollMs = POLL_MS } = this.options;
    const pulse = new Pulse();
    const timer = setInterval(() => void this.show().catch(() => {}), BEAT_MS); // Redis may be away; it comes back
    let last = "";
    try {
      await this.show();
      while (!signal.aborted) {
        const training = readTraining((await board.read(TRAININGS))[id]);
        if (!training || pulse.stillMs(training.beat, performance.now()) > goneMs) break;
        const round = await this.roundNow();
        if (round && round.id !== last && !round.closing && name in round.shards) {
          last = round.id;
          await this.take(round);
        } else await pause(pollMs);
      }
    } finally {
      clearInterval(timer);
      this.said.leaving = true;
      const isWanted = this.said.given !== undefined && this.said.given.round === (await this.roundNow())?.id;
      if (isWanted)
        await this.show(); // the leader takes what was given, and removes it
      else await board.remove(workersKey(id), name);
    }
  }

  private async roundNow(): Promise<RoundMessage | undefined> {
    const { board, id } = this.options;
    return readRound((await board.read(roundKey(id))).now);
  }

  private show(): Promise<void> {
    const { board, id, name } = this.options;
    this.said.beat++;
    return board.set(workersKey(id), name, JSON.stringify(this.said));
  }

  private async take(round: RoundMessage): Promise<void> {
    const { store, name, signal } = this.options;
    const give = async (given: Partial<NonNullable<WorkerMessage["given"]>>) => {
      this.said.given = { round: round.id, steps: 0, file: "", loss: null, reason: "", ...given };
      await this.show();
    };
    let state: "open" | "closing" | "over" = "open";
    const watch = setInterval(async () => {
      const now = await this.roundNow().catch(() => undefined);
      if (now && now.id !== round.id) state = "over";
      else if (now?.closing) state = "closing";
    }, BEAT_MS);
    try {
      const weights = await this.weightsOf(round);
      await this.show();
      const result = await this.trainer.run(round, round.shards[name], weights, () => state !== "open" || signal.aborted); // biome-ignore format: a list
      if ((await this.roundNow())?.id !== round.id) {
        this.options.note?.(`the round at step ${round.step} was closed before this worker was done`);
        return;
      }
      if (!result) throw new UserError("ROUND_EMPTY", "no step was taken, or its loss was not a number.");
      const { steps, loss, difference } = result;
      const { bytes } = this.rounding.encode(difference);
      await give({ steps, loss, file: await store.put(bytes) });
    } catch (error) {
      this.options.note?.(messageOf(error));
      await give({ reason: messageOf(error).slice(0, 500) });
    } finally {
      clearInterval(watch);
    }
  }

  /** The weights of a round: as a file, or by what changed since the round before; either way they must have its hash. */
  private async weightsOf({ base, weights: file, update }: RoundMessage): Promise<Float32Array> {
    const { store, precision } = this.options;
    const { size } = this.trainer;
    const { have } = this.said;
    const known = this.weights;
    this.said.have = "";
    const name = file ?? (have === update?.from ? update?.file : undefined);
    const kind = file ? "float32" : precision;
    const bytes = name && (await store.get(name, "", encodedBytes(size, kind)));
    if (!bytes) throw new UserError("WEIGHTS_MISSING", "the weights of the round are not in the store.");
    const read = decodeNumbers(bytes, kind, size);
    const weights = file || !known ? read : known.map((weight, i) => weight + read[i]);
    if ((await sha256(bytesOf(weights))) !== base)
      throw new UserError("WEIGHTS_HASH", "the weights of the round are not those that its hash names.");
    this.weights = weights;
    this.said.have = base;
    return weights;
  }
}
