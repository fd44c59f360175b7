import { hostname } from "node:os";
import { UserError } from "#base";
import { type Metric, runWorker } from "#cluster";
import { clusterStore, clusterUrl, STORE_OPTION, withFolder } from "./cluster.js";
import { command } from "./command.js";
import { LOG_OPTION, logTo } from "./log-lines.js";
import { METRICS_HELP, withMetrics } from "./metrics-server.js";
import { helpOnCluster } from "./training-cluster.js";

export default command({
  name: "worker",
  summary: "Work for a cluster: do the jobs that other commands with --cluster put on a Redis.",
  details:
    "Start one on every machine. Networks come from the store by their hashes; UCI engines must be installed, and be named with\n" +
    "--engines. It takes the jobs it can do, and says which it leaves to others and why. Ctrl-C or SIGTERM ends it\n" +
    "after the jobs at hand; the jobs of one that was killed are given to another. docs/cluster.md has the details.",
  examples: [
    "tabiya worker --cluster redis://10.0.0.1:6379",
    "tabiya worker --cluster redis://:password@host:6379 --capacity 8",
    "tabiya worker --cluster redis://10.0.0.1:6379 --store 's3://tabiya/files?endpoint=http://10.0.0.1:9000'",
    'tabiya worker --cluster redis://10.0.0.1:6379 --engines "stockfish,lc0=/opt/lc0/lc0 --backend=eigen"',
    "tabiya worker --cluster redis://10.0.0.1:6379 --trainings",
    "tabiya worker --cluster redis://10.0.0.1:6379 --cache /var/cache/tabiya --metrics 9464 --log json",
  ],
  options: {
    cluster: { help: "address of the Redis, as redis://HOST:6379" },
    ...STORE_OPTION,
    capacity: { type: "integer", minimum: 1, help: "threads; one per core by default" },
    engines: { help: "UCI engines that jobs may use, by name: stockfish, or NAME=COMMAND; commas between them" },
    trainings: { type: "boolean", help: "help with trainings (tabiya train --cluster) instead of playing games" },
    cache: { help: "folder that keeps networks and data for the next start; by default they go with the worker" },
    metrics: { help: METRICS_HELP },
    ...LOG_OPTION,
  },

  async run({ capacity, engines, trainings, cache, metrics, log: logKind, ...place }, io) {
    const log = logTo(io, logKind);
    const note = (text: string) => log("note", text);
    const folder = <T>(work: (path: string) => Promise<T>) => (cache === undefined ? withFolder(work) : work(cache));
    const counts = { done: 0, failed: 0 };
    if (trainings) {
      const help = () => folder((path) => helpOnCluster(place, { capacity, cache: path, note, signal: io.signal }));
      return withMetrics(metrics, () => workerMetrics(counts), note, help);
    }
    const cluster = clusterUrl(place);
    const store = await clusterStore(place);
    const work = async (path: string) =>
      runWorker({
        cluster,
        store,
        cache: path,
        name: `${hostname()}-${process.pid}`,
        capacity,
        engines: parseEngines(engines ?? ""),
        hasRuntime: await canImport("onnxruntime-node"),
        note,
        signal: io.signal,
        onReady: () => log("ready", "ready; waiting for jobs"),
        onJob({ id, kind, error }) {
          counts[error === undefined ? "done" : "failed"]++;
          if (error !== undefined) log("failed", `a job of ${kind} failed: ${error}`, { job: id, kind });
          else if (logKind === "json") log("done", `a job of ${kind} is done`, { job: id, kind });
          if (logKind !== "json") io.progress(`${counts.done} jobs done, ${counts.failed} failed`);
        },
      });
    await withMetrics(
      metrics,
      () => workerMetrics(counts),
      note,
      () => folder(work),
    );
    return counts;
  },
});

/** What a worker knows of itself. */
function workerMetrics({ done, failed }: { done: number; failed: number }): Metric[] {
  const { user, system } = process.cpuUsage();
  const one = (name: string, help: string, type: Metric["type"], value: number): Metric => ({ name, help, type, samples: [{ value }] }); // biome-ignore format: a list
  return [
    {
      name: "tabiya_jobs_total",
      help: "Jobs that this worker has ended.",
      type: "counter",
      samples: [
        { labels: { result: "done" }, value: done },
        { labels: { result: "failed" }, value: failed },
      ],
    },
    one("process_cpu_seconds_total", "Processor time, of all threads.", "counter", (user + system) / 1e6),
    one("process_resident_memory_bytes", "Memory.", "gauge", process.memoryUsage.rss()),
    one(
      "process_start_time_seconds",
      "When it was started, since 1970.",
      "gauge",
      Date.now() / 1000 - process.uptime(),
    ),
  ];
}

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
