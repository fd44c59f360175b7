// Numbers in the text format of Prometheus (prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4).
import type { ClusterStatus } from "./transports/status.js";

/** A number that is watched over time, with its samples. */
export interface Metric {
  name: string;
  help: string;
  type: "gauge" | "counter";
  samples: readonly { labels?: Readonly<Record<string, string>>; value: number }[];
}

const escapeLabel = (text: string): string => text.replace(/[\\"\n]/g, (mark) => (mark === "\n" ? "\\n" : `\\${mark}`));

/** Metrics in the text format of Prometheus. */
export function formatMetrics(metrics: readonly Metric[]): string {
  const lines = metrics.flatMap(({ name, help, type, samples }) => [
    `# HELP ${name} ${help.replace(/[\\\n]/g, " ")}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(({ labels = {}, value }) => {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
      return `${name}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}`;
    }),
  ]);
  return `${lines.join("\n")}\n`;
}

const STATES = ["waiting", "active", "delayed", "completed", "failed"] as const;

/** A cluster as `tabiya cluster status` sees it. */
export function clusterMetrics({ queues, workers, rates, redis }: ClusterStatus): Metric[] {
  const gauge = (name: string, help: string, samples: Metric["samples"]): Metric => ({ name, help, type: "gauge", samples }); // biome-ignore format: a list
  return [
    gauge("tabiya_jobs", "Jobs by queue and state.", queues.flatMap((queue) => STATES.map((state) => ({ labels: { queue: queue.name, state }, value: queue[state] })))), // biome-ignore format: a list
    gauge("tabiya_jobs_per_minute", "Jobs done a minute, over the last minutes.", [{ value: rates.jobsPerMinute }]),
    gauge("tabiya_workers", "Workers that gave a sign of life lately.", [{ value: workers.length }]),
    gauge("tabiya_worker_cores", "Cores that a worker offers.", workers.map(({ name, capacity }) => ({ labels: { worker: name }, value: capacity }))), // biome-ignore format: a list
    gauge("tabiya_worker_in_trouble", "1 if a worker rests because of trouble.", workers.map(({ name, trouble }) => ({ labels: { worker: name }, value: trouble === "" ? 0 : 1 }))), // biome-ignore format: a list
    {
      name: "tabiya_worker_jobs_total",
      help: "Jobs that a worker has ended since it was started.",
      type: "counter",
      samples: workers.flatMap(({ name, done, failed }) => [
        { labels: { worker: name, result: "done" }, value: done },
        { labels: { worker: name, result: "failed" }, value: failed },
      ]),
    },
    gauge("tabiya_redis_memory_bytes", "Memory that Redis uses.", [{ value: redis.bytes }]),
  ];
}
