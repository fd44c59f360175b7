import { hostname } from "node:os";
import { UserError } from "#base";
import { runWorker } from "#cluster";
import { clusterStore, clusterUrl, STORE_OPTION, withFolder } from "./cluster.js";
import { command } from "./command.js";
import { helpOnCluster } from "./training-cluster.js";

export default command({
  name: "worker",
  summary: "Work for a cluster: do the jobs that other commands with --cluster put on a Redis.",
  details:
    "Start one on every machine. Networks come by their hashes from the store; UCI engines must be there, and be named with\n" +
    "--engines. It takes the jobs it can do, and says which it leaves to others and why. Ctrl-C or SIGTERM ends it\n" +
    "after the jobs at hand; the jobs of one that was killed are given to another. docs/cluster.md tells more.",
  examples: [
    "tabiya worker --cluster redis://10.0.0.1:6379",
    "tabiya worker --cluster redis://:password@host:6379 --capacity 8",
    "tabiya worker --cluster redis://10.0.0.1:6379 --store 's3://tabiya/files?endpoint=http://10.0.0.1:9000'",
    'tabiya worker --cluster redis://10.0.0.1:6379 --engines "stockfish,lc0=/opt/lc0/lc0 --backend=eigen"',
    "tabiya worker --cluster redis://10.0.0.1:6379 --trainings",
  ],
  options: {
    cluster: { help: "address of the Redis, as redis://HOST:6379" },
    ...STORE_OPTION,
    capacity: { type: "integer", minimum: 1, help: "threads; one per core by default" },
    engines: { help: "UCI engines that jobs may use, by name: stockfish, or NAME=COMMAND; commas between them" },
    trainings: { type: "boolean", help: "help with trainings (tabiya train --cluster) instead of playing games" },
  },

  async run({ capacity, engines, trainings, ...place }, io) {
    if (trainings) return helpOnCluster(place, capacity, io);
    const cluster = clusterUrl(place);
    const store = await clusterStore(place);
    const counts = { done: 0, failed: 0 };
    await withFolder(async (cache) =>
      runWorker({
        cluster,
        store,
        cache,
        name: `${hostname()}-${process.pid}`,
        capacity,
        engines: parseEngines(engines ?? ""),
        hasRuntime: await canImport("onnxruntime-node"),
        note: io.note,
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

const canImport = (name: string): Promise<boolean> => import(name).then(() => true, () => false); // biome-ignore format: a list

/** `stockfish,lc0=/opt/lc0/lc0 --backend=eigen` */
function parseEngines(text: string): Record<string, string> {
  const parts = text.split(",").filter((part) => part.trim() !== "");
  return Object.fromEntries(
    parts.map((part) => {
      const [name, ...command] = part.trim().split("=");
      if (!/^[A-Za-z0-9][\w.-]*$/.test(name))
        throw new UserError("ENGINES", `--engines ${text}: "${part}" is no engine; expected NAME or NAME=COMMAND.`);
      return [name, command.length > 0 ? command.join("=") : name];
    }),
  );
}
