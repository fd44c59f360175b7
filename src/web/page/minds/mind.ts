import { type Channel, UserError } from "#base";
import type { Report } from "#engine";
import type { FromMind, Question, Thought, ToMind, Wish } from "./protocol.js";

interface Asked {
  resolve(thought: Thought): void;
  reject(error: Error): void;
  onReport: ((report: Report) => void) | undefined;
}

export interface MindAsking {
  signal?: AbortSignal; // when it fires, the answer comes at once with the best found so far
  onReport?: (report: Report) => void;
}

/** Opens the line to a fresh worker. */
export type StartWorker = () => Channel;

/** A player in a worker: the page's side. */
export class Mind {
  private readonly asked = new Map<number, Asked>();
  private nextId = 0;
  private dead: Error | undefined;

  private constructor(
    readonly player: string,
    private readonly channel: Channel,
  ) {}

  /** Loads the player that a text names, as `nnue@ab`; rejects in words if there is none. */
  static async open(player: string, start: StartWorker): Promise<Mind> {
    const channel = start();
    const mind = new Mind(player, channel);
    await new Promise<void>((resolve, reject) => {
      channel.listen(
        (message) => {
          const heard = message as FromMind;
          if (heard.type === "ready") mind.tell({ type: "open", player });
          else if (heard.type === "opened") resolve();
          else if (heard.type === "refused") reject(new UserError("PLAYER", plainNames(heard.message)));
          else mind.hear(heard);
        },
        (reason) => {
          mind.die(reason);
          reject(reason);
        },
      );
    }).catch(async (error: unknown) => {
      await channel.close();
      throw error;
    });
    return mind;
  }

  newGame(seed = 1): void {
    this.tell({ type: "newGame", seed });
  }

  choose(question: Question, wish: Wish, { signal, onReport }: MindAsking = {}): Promise<Thought> {
    if (this.dead) return Promise.reject(this.dead);
    const id = this.nextId++;
    return new Promise<Thought>((resolve, reject) => {
      this.asked.set(id, { resolve, reject, onReport });
      this.tell({ type: "choose", id, question, wish });
      const stop = () => this.tell({ type: "stop", id });
      if (signal?.aborted) stop();
      else signal?.addEventListener("abort", stop, { once: true });
    });
  }

  async close(): Promise<void> {
    this.die(new Error("the player was closed"));
    await this.channel.close();
  }

  private tell(message: ToMind): void {
    this.channel.post(message);
  }

  private die(reason: Error): void {
    this.dead = reason;
    for (const { reject } of this.asked.values()) reject(reason);
    this.asked.clear();
  }

  private hear(message: FromMind): void {
    if (!("id" in message)) return;
    const asked = this.asked.get(message.id);
    if (message.type === "report") {
      asked?.onReport?.(message.report);
      return;
    }
    this.asked.delete(message.id);
    if (message.type === "chosen") asked?.resolve(message.thought);
    else asked?.reject(new Error(plainNames(message.message)));
  }
}

/** A dropped file is read by an address as blob:http://...#name; in a message only its name helps. */
export const plainNames = (message: string): string => message.replace(/blob:[^\s"#]*#/g, "");
