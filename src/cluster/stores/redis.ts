import type { Redis } from "ioredis";
import { sha256 } from "./hash.js";
import { type FileStore, MOST_BYTES } from "./store.js";

const KEPT_SECONDS = 24 * 3600; // after the last put; results are read within minutes
const keyOf = (hash: string): string => `tabiya:file:${hash}`;

/** Small files in Redis itself, so that machines need nothing else in common; they go after a day. */
export class RedisStore implements FileStore {
  constructor(private readonly redis: Redis) {}

  async put(bytes: Uint8Array): Promise<string> {
    const hash = await sha256(bytes);
    await this.redis.set(keyOf(hash), Buffer.from(bytes), "EX", KEPT_SECONDS);
    return hash;
  }

  async get(hash: string, _ending = "", mostBytes = MOST_BYTES): Promise<Uint8Array | undefined> {
    if ((await this.redis.strlen(keyOf(hash))) > mostBytes) return undefined;
    const bytes = await this.redis.getBuffer(keyOf(hash));
    if (!bytes) return undefined;
    const found = new Uint8Array(bytes);
    return (await sha256(found)) === hash ? found : undefined;
  }

  async remove(hash: string): Promise<void> {
    await this.redis.del(keyOf(hash));
  }
}
