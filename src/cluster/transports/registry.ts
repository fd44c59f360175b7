// What machines tell each other through Redis besides jobs: what is needed, who is there, and which job is to be let go.
import type { Redis } from "ioredis";
import * as z from "zod";
import { type Abilities, NEEDS_SCHEMA, type Needs } from "../jobs/needs.js";
import { sha256 } from "../stores/hash.js";

const PREFIX = "tabiya:jobs";
const NEEDED_SECONDS = 3600; // after whoever asked was last seen; until then workers watch its queue
const ALIVE_SECONDS = 20; // after a worker's last sign of life
export const RATE_MINUTES = 5; // that rates are measured over
export const BEAT_MS = 5_000; // between two signs of life

const WORKER_SCHEMA = z.object({
  name: z.string(),
  version: z.number(),
  bench: z.number(),
  families: z.array(z.string()),
  engines: z.record(z.string(), z.string()),
  capacity: z.number(),
  done: z.number(), // jobs
  failed: z.number(),
  jobsPerMinute: z.number().default(0), // done over the last minutes
  refused: z.array(z.string()), // why it leaves jobs to others
  trouble: z.string(), // why it rests; empty if it does not
});

/** A worker as others see it. */
export type WorkerCard = Abilities & z.infer<typeof WORKER_SCHEMA>;

/** What is said to all. */
type Word = { look: true } | { letGo: string };

export class Registry {
  constructor(private readonly redis: Redis) {}

  /** The queue of jobs with such needs; whoever can do them watches it from now on. */
  async need(needs: Needs): Promise<string> {
    const queue = `tabiya-jobs-${(await sha256(new TextEncoder().encode(JSON.stringify(needs)))).slice(0, 12)}`;
    const isNew = (await this.redis.exists(`${PREFIX}:needs:${queue}`)) === 0;
    await this.redis.sadd(`${PREFIX}:needs`, queue);
    await this.redis.set(`${PREFIX}:needs:${queue}`, JSON.stringify(needs), "EX", NEEDED_SECONDS);
    if (isNew) await this.say({ look: true });
    return queue;
  }

  /** What is needed, by queue. */
  async needs(): Promise<Map<string, Needs>> {
    return this.read("needs", (value) => NEEDS_SCHEMA.safeParse(value).data);
  }

  async signIn(card: WorkerCard): Promise<void> {
    await this.redis.sadd(`${PREFIX}:workers`, card.name);
    await this.redis.set(`${PREFIX}:workers:${card.name}`, JSON.stringify(card), "EX", ALIVE_SECONDS);
  }

  async signOut(name: string): Promise<void> {
    await this.redis.srem(`${PREFIX}:workers`, name);
    await this.redis.del(`${PREFIX}:workers:${name}`);
  }

  /** Those that gave a sign of life lately. */
  async workers(): Promise<WorkerCard[]> {
    return [...(await this.read("workers", (value) => WORKER_SCHEMA.safeParse(value).data)).values()];
  }

  /** Tells whoever is at work on a job to stop. */
  async letGo(job: string): Promise<void> {
    await this.say({ letGo: job });
  }

  private async say(word: Word): Promise<void> {
    await this.redis.publish(`${PREFIX}:word`, JSON.stringify(word));
  }

  /** Hears what is said; the connection is for that alone. */
  static async listen(redis: Redis, on: { look(): void; letGo(job: string): void }): Promise<void> {
    redis.on("message", (_, text: string) => {
      const word = JSON.parse(text) as Partial<{ look: true; letGo: string }>;
      if (word.look) on.look();
      if (typeof word.letGo === "string") on.letGo(word.letGo);
    });
    await redis.subscribe(`${PREFIX}:word`);
  }

  private async read<T>(list: string, parse: (value: unknown) => T | undefined): Promise<Map<string, T>> {
    const names = await this.redis.smembers(`${PREFIX}:${list}`);
    const found = new Map<string, T>();
    if (names.length === 0) return found;
    const texts = await this.redis.mget(names.map((name) => `${PREFIX}:${list}:${name}`));
    for (const [i, name] of names.entries()) {
      const value = texts[i] === null ? undefined : parse(JSON.parse(texts[i]));
      if (value) found.set(name, value);
      else if (texts[i] === null) await this.redis.srem(`${PREFIX}:${list}`, name);
    }
    return found;
  }
}
