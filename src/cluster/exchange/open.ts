import { RedisStore } from "../stores/redis.js";
import type { FileStore } from "../stores/store.js";
import { connect } from "../transports/connection.js";
import { type Board, RedisBoard } from "./board.js";

/** Where machines meet for trainings. */
export interface ClusterBoard {
  board: Board;
  store: FileStore;
  close(): void;
}

/** Connects to the Redis of a cluster, for trainings that exchange their weights. */
export async function openBoard(url: string, store?: FileStore): Promise<ClusterBoard> {
  const redis = await connect(url);
  return { board: new RedisBoard(redis), store: store ?? new RedisStore(redis), close: () => redis.disconnect() };
}
