// What the commands share that may be run on a cluster.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BullTransport, EmbeddedTransport, FolderStore, playByJobs } from "#cluster";
import type { PlayGames } from "#data";

export const CLUSTER_OPTION = {
  cluster: {
    help: "let workers on this Redis play the games, as redis://HOST:6379; by default threads of this program do",
  },
} as const;

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
export async function withTransport<T>(cluster: string | undefined, work: (play: PlayGames) => Promise<T>): Promise<T> {
  return withFolder(async (folder) => {
    const transport =
      cluster === undefined ? new EmbeddedTransport(new FolderStore(folder)) : await BullTransport.open(cluster);
    try {
      return await work(playByJobs(transport));
    } finally {
      await transport.close();
    }
  });
}
