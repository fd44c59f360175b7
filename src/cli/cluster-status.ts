import { type ClusterStatus, clusterMetrics, readStatus } from "#cluster";
import { clusterUrl } from "./cluster.js";
import { command, type Io } from "./command.js";
import { METRICS_HELP, withMetrics } from "./metrics-server.js";
import { formatCount, formatDuration } from "./progress.js";

export default command({
  name: "cluster status",
  summary: "Show the queues and the workers of a cluster: rates, failures, time left.",
  details: "With --serve it stays and answers Prometheus until Ctrl-C; each request asks the Redis anew.",
  examples: [
    "tabiya cluster status --cluster redis://localhost:6379",
    "tabiya cluster status --cluster redis://localhost:6379 --json",
    "tabiya cluster status --cluster redis://localhost:6379 --serve 9464",
  ],
  options: {
    cluster: { help: "address of the Redis, as redis://HOST:6379" },
    serve: { help: METRICS_HELP },
  },

  async run({ serve, ...place }, io) {
    const url = clusterUrl(place);
    const status = await readStatus(url);
    show(status, io);
    if (serve === undefined) return status;
    const read = async () => clusterMetrics(await readStatus(url));
    await withMetrics(serve, read, io.note, async () => {
      if (io.signal.aborted) return;
      await new Promise<void>((resolve) => io.signal.addEventListener("abort", () => resolve(), { once: true }));
    });
    return status;
  },
});

function show({ queues, workers, rates, failures, redis }: ClusterStatus, { print, note }: Pick<Io, "print" | "note">) {
  for (const { name, needs, waiting, active, completed, failed, delayed, jobsPerMinute, secondsLeft } of queues) {
    const left = secondsLeft === null ? "no end in sight" : `${formatDuration(secondsLeft)} left`;
    print(
      `${name}: ${waiting} waiting, ${active} active, ${delayed} to be tried again, ${completed} done, ${failed} failed`,
    );
    print(`  for ${needs}`);
    print(`  ${jobsPerMinute.toFixed(1)} jobs a minute, ${left}`);
  }
  if (queues.length === 0) print("no jobs");
  print(`${workers.length} workers, ${rates.jobsPerMinute.toFixed(1)} jobs a minute`);
  for (const { name, capacity, done, failed, jobsPerMinute, refused, trouble } of workers) {
    const rate = `${jobsPerMinute.toFixed(1)} a minute`;
    print(
      `  ${name}: ${capacity} cores, ${done} jobs done (${rate}), ${failed} failed${trouble && `; resting: ${trouble}`}`,
    );
    for (const reason of refused) print(`    leaves jobs to others: ${reason}`);
  }
  for (const { id, reason } of failures) print(`  failed: ${id.slice(0, 12)}: ${reason}`);
  print(`Redis ${redis.version}, ${formatCount(redis.bytes)}B of memory`);
  for (const warning of redis.warnings) note(warning);
}
