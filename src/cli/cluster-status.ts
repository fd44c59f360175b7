import { readStatus } from "#cluster";
import { clusterUrl } from "./cluster.js";
import { command } from "./command.js";

export default command({
  name: "cluster status",
  summary: "Show the queue and the workers of a cluster.",
  examples: [
    "tabiya cluster status --cluster redis://localhost:6379",
    "tabiya cluster status --cluster redis://localhost:6379 --json",
  ],
  options: { cluster: { help: "address of the Redis, as redis://HOST:6379" } },

  async run(place, io) {
    const status = await readStatus(clusterUrl(place));
    for (const { name, waiting, active, completed, failed, delayed } of status.queues)
      io.print(
        `${name}: ${waiting} waiting, ${active} active, ${delayed} to be tried again, ${completed} done, ${failed} failed`,
      );
    io.print(`${status.workers.length} workers, ${status.rates.jobsPerMinute.toFixed(1)} jobs a minute`);
    for (const { name, capacity, done, failed, refused, trouble } of status.workers) {
      io.print(
        `  ${name}: ${capacity} cores, ${done} jobs done, ${failed} failed${trouble && `; resting: ${trouble}`}`,
      );
      for (const reason of refused) io.print(`    leaves jobs to others: ${reason}`);
    }
    for (const { id, reason } of status.failures) io.print(`  failed: ${id.slice(0, 12)}: ${reason}`);
    return status;
  },
});
