// What the commands share that may be run on a cluster.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "#base";
import { BullTransport, EmbeddedTransport, type FileStore, FolderStore, openStore, playByJobs } from "#cluster";
import type { PlayGames } from "#data";

export const STORE_OPTION = {
  store: {
    help: "where machines leave files for each other, the same for all: s3://BUCKET/PREFIX?endpoint=URL or a shared folder; by default the Redis",
  },
} as const;

export const CLUSTER_OPTIONS = {
  cluster: {
    help: "let workers on this Redis do the work, as redis://HOST:6379; by default threads of this program do",
  },
  ...STORE_OPTION,
} as const;

/** Where machines meet, as it was asked for. */
export interface ClusterPlace {
  cluster?: string; // address of the Redis
  store?: string; // of the files
}

/** The address of the Redis, with the password of the environment if it has none: those of a command line can be seen by all. */
export function clusterUrl({ cluster }: ClusterPlace): string {
  if (cluster === undefined)
    throw new UserError("OPTION_MISSING", "Say which cluster: --cluster redis://localhost:6379");
  const password = process.env.REDISCLI_AUTH; // as redis-cli has it
  return password && !cluster.includes("@") ? cluster.replace("://", `://:${encodeURIComponent(password)}@`) : cluster;
}

/** The store that was asked for; none: files lie in the Redis. */
export const clusterStore = async ({ store }: ClusterPlace): Promise<FileStore | undefined> =>
  store === undefined ? undefined : openStore(store, process.env);

/** A folder that goes when the work is done. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-networks-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Games played by threads of this program, or by whoever works on the queue of a cluster. */
export async function withTransport<T>(place: ClusterPlace, work: (play: PlayGames) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    const transport =
      place.cluster === undefined
        ? new EmbeddedTransport(new FolderStore(folder))
        : await BullTransport.open(clusterUrl(place), { store: await clusterStore(place) });
    try {
      return await work(playByJobs(transport));
    } finally {
      await transport.close();
    }
  });
}
