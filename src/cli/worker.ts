import { runWorker } from "#cluster";
import { clusterStore, clusterUrl, STORE_OPTION, withFolder } from "./cluster.js";
import { command } from "./command.js";
import { helpOnCluster } from "./training-cluster.js";

export default command({
  name: "worker",
  summary: "Work for a cluster: play the games that tabiya selfplay and tabiya learn put on a Redis.",
  details:
    "Start one on every machine. Networks come by their hashes from the store; nothing else is needed. Ctrl-C or SIGTERM ends it\n" +
    "after the jobs at hand; the jobs of one that was killed are given to another. docs/cluster.md tells more.",
  examples: [
    "tabiya worker --cluster redis://10.0.0.1:6379",
    "tabiya worker --cluster redis://:password@host:6379 --capacity 8",
    "tabiya worker --cluster redis://10.0.0.1:6379 --store 's3://tabiya/files?endpoint=http://10.0.0.1:9000'",
    "tabiya worker --cluster redis://10.0.0.1:6379 --trainings",
  ],
  options: {
    cluster: { help: "address of the Redis, as redis://HOST:6379" },
    ...STORE_OPTION,
    capacity: { type: "integer", minimum: 1, help: "threads; one per core by default" },
    trainings: { type: "boolean", help: "help with trainings (tabiya train --cluster) instead of playing games" },
  },

  async run({ capacity, trainings, ...place }, io) {
    if (trainings) return helpOnCluster(place, capacity, io);
    const cluster = clusterUrl(place);
    const store = await clusterStore(place);
    const counts = { done: 0, failed: 0 };
    await withFolder((cache) =>
      runWorker({
        cluster,
        store,
        cache,
        capacity,
        signal: io.signal,
        onReady: () => io.note("ready; waiting for jobs"),
        onJob({ kind, error }) {
          counts[error === undefined ? "done" : "failed"]++;
          if (error !== undefined) io.note(`a job of ${kind} failed: ${error}`);
          io.progress(`${counts.done} jobs done, ${counts.failed} failed`);
        },
      }),
    );
    return counts;
  },
});
