import type { Redis } from "ioredis";

/** Short texts that machines leave for each other: fields of a key, each set and read as a whole. */
export interface Board {
  set(key: string, field: string, text: string): Promise<void>;
  /** All fields of a key; none if it is not there. */
  read(key: string): Promise<Readonly<Record<string, string>>>;
  remove(key: string, field: string): Promise<void>;
}

/** Between workers of one program. */
export class MemoryBoard implements Board {
  private readonly keys = new Map<string, Map<string, string>>();

  async set(key: string, field: string, text: string): Promise<void> {
    const fields = this.keys.get(key) ?? new Map<string, string>();
    this.keys.set(key, fields.set(field, text));
  }

  async read(key: string): Promise<Record<string, string>> {
    return Object.fromEntries(this.keys.get(key) ?? []);
  }

  async remove(key: string, field: string): Promise<void> {
    this.keys.get(key)?.delete(field);
  }
}

const KEPT_SECONDS = 24 * 3600; // after the last change: what a killed program leaves goes by itself

/** Hashes of a Redis. */
export class RedisBoard implements Board {
  constructor(private readonly redis: Redis) {}

  async set(key: string, field: string, text: string): Promise<void> {
    await this.redis.hset(nameOf(key), field, text);
    await this.redis.expire(nameOf(key), KEPT_SECONDS);
  }

  read(key: string): Promise<Record<string, string>> {
    return this.redis.hgetall(nameOf(key));
  }

  async remove(key: string, field: string): Promise<void> {
    await this.redis.hdel(nameOf(key), field);
  }
}

const nameOf = (key: string): string => `tabiya:exchange-1:${key}`; // the number grows when versions would misunderstand each other
