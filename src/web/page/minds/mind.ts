import { type Channel, UserError } from "#base";
import type { Report } from "#engine";
import type { Description } from "./describe.js";
import type { Inspected, Inspection } from "./inspect.js";
import type { FromMind, Question, Thought, ToMind, Wish } from "./protocol.js";

interface Asked {
  resolve(message: FromMind): void;
  reject(error: Error): void;
  onReport?: ((report: Report) => void) | undefined;
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
    const mind = new Mind(player, start());
    await mind.introduce({ type: "open", player });
    return mind;
  }

  /** What a file of weights says of itself; rejects in words if it is no network. */
  static async describe(address: string, start: StartWorker): Promise<Description> {
    const mind = new Mind(address, start());
    const heard = await mind.introduce({ type: "describe", address });
    await mind.close();
    if (heard.type !== "described") throw new Error("internal: a description was expected");
    return heard.description;
  }

  /** Says the first thing to the worker once it listens, and waits for the answer. */
  private async introduce(first: ToMind): Promise<FromMind> {
    const { channel } = this;
    try {
      return await new Promise<FromMind>((resolve, reject) => {
        const hear = (message: FromMind) => {
          if (message.type === "ready") this.tell(first);
          else if (message.type === "opened" || message.type === "described") resolve(message);
          else if (message.type === "refused") reject(new UserError("PLAYER", plainNames(message.message)));
          else this.hear(message);
        };
        channel.listen(
          (message) => hear(message as FromMind),
          (reason) => {
            this.die(reason);
            reject(reason);
          },
        );
      });
    } catch (error) {
      await channel.close();
      throw error;
    }
  }

  newGame(seed = 1): void {
    this.tell({ type: "newGame", seed });
  }

  async choose(question: Question, wish: Wish, { signal, onReport }: MindAsking = {}): Promise<Thought> {
    const id = this.nextId++;
    const stop = () => this.tell({ type: "stop", id });
    const answer = this.ask(id, { type: "choose", id, question, wish }, onReport);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
    const heard = await answer;
    if (heard.type !== "chosen") throw new Error("internal: a move was expected");
    return heard.thought;
  }

  /** Looks inside the network; what it cannot show is missing from the answer. */
  async inspect(question: Question, inspection: Inspection): Promise<Inspected> {
    const id = this.nextId++;
    const heard = await this.ask(id, { type: "inspect", id, question, inspection });
    if (heard.type !== "inspected") throw new Error("internal: an inspection was expected");
    return heard.inspected;
  }

  private ask(id: number, message: ToMind, onReport?: (report: Report) => void): Promise<FromMind> {
    if (this.dead) return Promise.reject(this.dead);
    return new Promise<FromMind>((resolve, reject) => {
      this.asked.set(id, { resolve, reject, onReport });
      this.tell(message);
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
    if (message.type === "failed") asked?.reject(new Error(plainNames(message.message)));
    else asked?.resolve(message);
  }
}

/** A file is read by an address as blob:http://...#name, or one of the server's; in a message only its name helps. */
export const plainNames = (message: string): string => message.replace(/(?:blob:|https?:)[^\s"#]*#/g, "");
