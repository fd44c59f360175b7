import { connect, loadBull } from "./connection.js";
import { Registry, type WorkerCard } from "./registry.js";

export interface ClusterStatus {
  queues: { name: string; waiting: number; active: number; completed: number; failed: number; delayed: number }[];
  workers: WorkerCard[];
  rates: { jobsPerMinute: number }; // over the last minutes
  failures: { id: string; reason: string }[]; // the last ones
}

export async function readStatus(url: string): Promise<ClusterStatus> {
  const { Queue } = await loadBull();
  const redis = await connect(url);
  const registry = new Registry(redis);
  const status: ClusterStatus = { queues: [], workers: [], rates: { jobsPerMinute: 0 }, failures: [] };
  try {
    status.workers = await registry.workers();
    for (const name of (await registry.needs()).keys()) {
      const queue = new Queue(name, { connection: redis });
      const { waiting = 0, active = 0, completed = 0, failed = 0, delayed = 0 } = await queue.getJobCounts();
      status.queues.push({ name, waiting, active, completed, failed, delayed });
      const { data } = await queue.getMetrics("completed", 0, 4);
      if (data.length > 0) status.rates.jobsPerMinute += data.reduce((sum, n) => sum + Number(n), 0) / data.length;
      const failures = await queue.getFailed(0, 9);
      status.failures.push(...failures.map(({ id = "", failedReason }) => ({ id, reason: failedReason })));
      await queue.close();
    }
    return status;
  } finally {
    redis.disconnect();
  }
}
