import type { Redis } from "ioredis";
import { messageOf, UserError } from "#base";
import { withoutKeys } from "../stores/open.js";

const CONNECT_MS = 5_000;
const SILENT_MS = 60_000; // without an answer, after which a connection is taken for dead: a cut cable says nothing
const ADVICE = {
  AUTH: "Give its password: redis://:PASSWORD@HOST:6379, or in the variable REDISCLI_AUTH.",
  OTHER: "Start one, or mend the address.",
};

/** Packages that only clusters need, and that are installed only for them. */
async function load<T>(module: Promise<T>): Promise<T> {
  return module.catch((error: { code?: string }) => {
    if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new UserError("CLUSTER_PACKAGES", "Clusters need two more packages: npm install bullmq ioredis");
  });
}
export const loadBull = (): Promise<typeof import("bullmq")> => load(import("bullmq"));

/** Opens a connection, or says why there is none. Nothing that is said holds the password. */
export async function connect(url: string): Promise<Redis> {
  const shown = withoutKeys(url);
  if (!/^rediss?:\/\//.test(url))
    throw new UserError(
      "CLUSTER_URL",
      `cluster "${shown}": expected the address of a Redis, as redis://localhost:6379.`,
    );
  const { Redis } = await load(import("ioredis"));
  const redis = new Redis(url, { maxRetriesPerRequest: null, lazyConnect: true, connectTimeout: CONNECT_MS, socketTimeout: SILENT_MS, retryStrategy: () => null }); // biome-ignore format: a list
  let reason = "";
  redis.on("error", (error) => (reason = messageOf(error)));
  await redis
    .connect()
    .then(() => redis.ping()) // only now is it known whether the password is right
    .catch((error: unknown) => {
      redis.disconnect();
      const why = reason || messageOf(error);
      if (/NOAUTH|WRONGPASS|NOPERM|invalid password/i.test(why))
        throw new UserError("CLUSTER_PASSWORD", `${shown}: the Redis wants another password (${why}). ${ADVICE.AUTH}`);
      if (/certificate|altnames/i.test(why))
        throw new UserError("CLUSTER_TLS", `${shown}: the certificate of the Redis is not trusted (${why}). Name the file of its authority in NODE_EXTRA_CA_CERTS.`); // biome-ignore format: a sentence
      throw new UserError("CLUSTER_CONNECT", `${shown}: there is no Redis (${why}). ${ADVICE.OTHER}`);
    });
  redis.options.retryStrategy = (times) => Math.min(1_000, 50 * times); // from now on it is worth waiting for
  return redis;
}
