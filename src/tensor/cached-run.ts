/** The worker's side of a CachedSession. */
import { assert } from "#base";
import type { CacheSpec } from "./cached-session.js";
import { createSession, tensorOf, unwrap, wrapFeeds } from "./runner.js";
import type { Feeds, SessionOptions, TensorData } from "./session.js";

export interface CachedPlan {
  models: Readonly<Record<string, Uint8Array>>;
  caches: readonly CacheSpec[];
  capacity: number; // rows
  options: SessionOptions;
}

interface Cache extends CacheSpec {
  rows: Float32Array;
  size: number; // numbers of a row
}

type Opened = Awaited<ReturnType<typeof createSession>>;

export class CachedRun {
  private length = 0; // rows in every cache

  private constructor(
    private readonly sessions: ReadonlyMap<string, Opened>,
    private readonly caches: readonly Cache[],
    private readonly capacity: number,
  ) {}

  static async open({ models, caches, capacity, options }: CachedPlan): Promise<CachedRun> {
    const sessions = new Map<string, Opened>();
    for (const [name, model] of Object.entries(models)) sessions.set(name, await createSession(model, options));
    const rooms = caches.map((cache) => {
      const size = cache.shape.reduce((product, dim) => product * dim, 1);
      return { ...cache, size, rows: new Float32Array(capacity * size) };
    });
    return new CachedRun(sessions, rooms, capacity);
  }

  async run(model: string, feeds: Feeds): Promise<Record<string, TensorData>> {
    const opened = this.sessions.get(model);
    assert(opened, `no model "${model}" was opened`);
    const { runtime, session } = opened;
    const isCache = new Set(this.caches.map(({ input }) => input));
    const wrapped = wrapFeeds(
      runtime,
      session.inputMetadata.filter(({ name }) => !isCache.has(name)),
      feeds,
    );
    for (const { input, rows, size, shape } of this.caches)
      wrapped[input] = tensorOf(runtime, "float32", rows.subarray(0, this.length * size), [this.length, ...shape]);
    const results = unwrap(await session.run(wrapped));
    let added = 0;
    for (const { output, rows, size } of this.caches) {
      const data = results[output].data as Float32Array;
      added = data.length / size;
      assert(this.length + added <= this.capacity, `caches of ${this.capacity} rows are full`);
      rows.set(data, this.length * size);
      delete results[output];
    }
    this.length += added;
    return results;
  }

  truncate(length: number): void {
    assert(length >= 0 && length <= this.length, `${length} of ${this.length} rows`);
    this.length = length;
  }
}
