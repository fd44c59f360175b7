import assert from "node:assert/strict";
import { test } from "vitest";
import { clusterMetrics, formatMetrics } from "#cluster";
import { parseExposition } from "./exposition.js";

const CARD = { version: 1, bench: 1, families: [], engines: {}, refused: [], jobsPerMinute: 1 };
const QUEUE = { needs: "any worker", completed: 3, failed: 1, delayed: 0, jobsPerMinute: 12, secondsLeft: 35 };

test("Prometheus can read a cluster, whatever its workers are called", () => {
  const text = formatMetrics(
    clusterMetrics({
      queues: [
        { ...QUEUE, name: "tabiya-jobs-a", waiting: 5, active: 2 },
        { ...QUEUE, name: "tabiya-jobs-b", waiting: 0, active: 0 },
      ],
      workers: [
        { ...CARD, name: 'a "quoted" \\ name\nof two lines', capacity: 4, done: 9, failed: 0, trouble: "disk full" },
        { ...CARD, name: "b", capacity: 2, done: 1, failed: 2, trouble: "" },
      ],
      rates: { jobsPerMinute: 24 },
      failures: [],
      redis: { version: "7.0.15", bytes: 1_234_567, warnings: [] },
    }),
  );
  const found = parseExposition(text);
  assert.equal(found.get('tabiya_jobs{queue="tabiya-jobs-a",state="waiting"}'), 5);
  assert.equal(found.get('tabiya_jobs{queue="tabiya-jobs-b",state="failed"}'), 1);
  assert.equal(found.get('tabiya_worker_jobs_total{worker="b",result="failed"}'), 2);
  assert.equal(found.get('tabiya_worker_in_trouble{worker="a \\"quoted\\" \\\\ name\\nof two lines"}'), 1);
  assert.equal(found.get("tabiya_redis_memory_bytes"), 1_234_567);
  assert.equal(found.get("tabiya_workers"), 2);
});

test("a cluster without anything is no error", () => {
  const empty = { queues: [], workers: [], rates: { jobsPerMinute: 0 }, failures: [], redis: { version: "", bytes: 0, warnings: [] } }; // biome-ignore format: a list
  assert.equal(parseExposition(formatMetrics(clusterMetrics(empty))).get("tabiya_workers"), 0);
});
