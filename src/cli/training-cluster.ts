// Trainings with other workers, for the commands that lead them and that help.
import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { processors } from "#base";
import type { SharedTraining } from "#cluster";
import type { Exchange } from "#training";
import { type ClusterPlace, clusterStore, clusterUrl } from "./cluster.js";
import type { Io } from "./command.js";

/** Threads for each of so many workers of this program, which compute at the same time. */
export const threadsEach = (workers: number): number => Math.max(1, Math.floor(processors() / workers));

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(2);

type Shared = Pick<SharedTraining, "recipe" | "paths" | "data" | "workers"> & ClusterPlace & { run: string };

/** Does the work with an exchange if there is to be one. What clusters need is loaded only then. */
export async function withExchange<T>(
  { cluster, store, run, ...training }: Shared,
  io: Pick<Io, "note" | "signal">,
  work: (exchange?: Exchange) => Promise<T>,
): Promise<T> {
  if (cluster === undefined && (training.workers ?? 1) === 1) return work();
  const { leadHere, leadTraining, openBoard } = await import("#cluster");
  // The same when the run is resumed, so that helpers that still wait go on.
  const id = createHash("sha256")
    .update(`${hostname()} ${resolve(run)}`)
    .digest("hex")
    .slice(0, 32);
  let summary = "";
  const onRound: SharedTraining["onRound"] = ({ traffic: { put, got } }) => {
    summary = `rounds with others: ${megabytes(put)} MB put into the store, ${megabytes(got)} MB got from it${cluster === undefined ? "" : " by this machine"}`;
  };
  const options = { ...training, id, signal: io.signal, note: io.note, onRound };
  if (cluster === undefined) return leadHere(options, work).finally(() => summary && io.note(summary));
  const opened = await openBoard(clusterUrl({ cluster }), await clusterStore({ store }));
  try {
    return await leadTraining(opened, options, work);
  } finally {
    if (summary) io.note(summary);
    opened.close();
  }
}

/** Helps with the trainings of a cluster until interrupted. */
export async function helpOnCluster(
  place: ClusterPlace,
  { capacity, cache, ...io }: { capacity?: number; cache: string } & Pick<Io, "note" | "signal">,
): Promise<{ helped: number }> {
  const { helpTrainings, openBoard } = await import("#cluster");
  const { board, store, close } = await openBoard(clusterUrl(place), await clusterStore(place));
  const name = `${hostname()
    .replace(/[^\w.-]/g, "-")
    .slice(0, 80)}-${randomBytes(4).toString("hex")}`;
  try {
    io.note("ready; waiting for trainings");
    return await helpTrainings({ board, store, name, cache, threads: capacity ?? 0, ...io });
  } finally {
    close();
  }
}
