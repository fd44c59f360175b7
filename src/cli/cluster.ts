// What the commands share that may be run on a cluster.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "#base";
import { BullTransport, EmbeddedTransport, type FileStore, FolderStore, openStore, type Transport } from "#cluster";
import type { Io } from "./command.js";

export const STORE_OPTION = {
  store: {
    help: "where machines exchange files, the same for all of them: s3://BUCKET/PREFIX?endpoint=URL or a shared folder; by default the Redis",
  },
} as const;

export const CLUSTER_OPTIONS = {
  cluster: {
    help: "have workers on this Redis do the work, e.g. redis://HOST:6379; by default it is done here",
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

/** Jobs done by threads of this program, or by whoever works on a cluster. */
export async function withTransport<T>(
  place: ClusterPlace,
  io: Pick<Io, "note">,
  work: (transport: Transport) => Promise<T>,
): Promise<T> {
  return withFolder(async (folder) => {
    const transport =
      place.cluster === undefined
        ? new EmbeddedTransport(new FolderStore(folder))
        : await BullTransport.open(clusterUrl(place), { store: await clusterStore(place), note: io.note });
    try {
      return await work(transport);
    } finally {
      await transport.close();
    }
  });
}

/** The same for work that this program does itself if there is no cluster. */
export const onCluster = <T>(
  place: ClusterPlace,
  io: Pick<Io, "note">,
  work: (transport: Transport | undefined) => Promise<T>,
): Promise<T> => (place.cluster === undefined ? work(undefined) : withTransport(place, io, work));
