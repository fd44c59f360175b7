// What a job costs a Redis under BullMQ, for the assumptions of `tabiya cluster simulate`:
//   node bench/redis.mjs redis://127.0.0.1:6379 [jobs] [payload bytes] [result bytes]
// Adds, takes and finishes empty jobs, 64 under way, on an otherwise idle Redis. Prints one JSON object. Redis is measured by
// its own processor time, so that a busy machine does not matter much.
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";

const [url, jobs = "10000", payload = "600", resultBytes = "427000"] = process.argv.slice(2);
if (!url) {
  console.error("usage: node bench/redis.mjs redis://HOST:PORT [jobs] [payload bytes] [result bytes]");
  process.exit(1);
}
const count = Number(jobs);
const connection = new Redis(url, { maxRetriesPerRequest: null });
const queue = new Queue("tabiya-bench", { connection });
const data = { text: "x".repeat(Number(payload)) };

/** Seconds of processor time and bytes of memory that Redis has used. */
async function used() {
  const info = await connection.info();
  const number = (name) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)[1]);
  return {
    cpu: number("used_cpu_user") + number("used_cpu_sys"),
    bytes: number("used_memory"),
    commands: number("total_commands_processed"),
  };
}

const seconds = () => performance.now() / 1000;
await queue.obliterate({ force: true });
const start = await used();
const began = seconds();
const hashes = Array.from({ length: count }, (_, i) => `${i}`.padStart(64, "0"));
for (let i = 0; i < count; i += 64)
  await Promise.all(hashes.slice(i, i + 64).map((jobId) => queue.add("bench", data, { jobId, removeOnComplete: { age: 3600 } }))); // biome-ignore format: a list
const added = await used();
const addSeconds = seconds() - began;

let done = 0;
const again = seconds();
await new Promise((resolve) => {
  const worker = new Worker("tabiya-bench", async () => "0".repeat(64), { connection: connection.duplicate(), concurrency: 64, lockDuration: 30_000 }); // biome-ignore format: a list
  worker.on("completed", () => ++done === count && void worker.close().then(resolve));
});
const finished = await used();
const doSeconds = seconds() - again;

/** Milliseconds of Redis for one of 1,000 things. */
async function costs(work) {
  const before = await used();
  for (let i = 0; i < 1000; i++) await work(i);
  return (await used()).cpu - before.cpu;
}
const result = Buffer.alloc(Number(resultBytes), 1);
await queue.add("lock", {});
const holder = new Worker("tabiya-bench", null, { connection: connection.duplicate(), lockDuration: 30_000 });
const held = await holder.getNextJob("token");
const renewMs = await costs(() => held.extendLock("token", 30_000));
await held.moveToCompleted("", "token", false);
await holder.close();
const pollMs = await costs((i) => queue.getJob(hashes[i % count]));
const storeMs = await costs(async (i) => {
  await connection.set(`tabiya-bench:file:${i % 10}`, result);
  await connection.getBuffer(`tabiya-bench:file:${i % 10}`);
});
for (let i = 0; i < 10; i++) await connection.del(`tabiya-bench:file:${i}`);
const round = (value, digits = 3) => Number(value.toFixed(digits));
console.log(
  JSON.stringify({
    jobs: count,
    addMs: round((1000 * (added.cpu - start.cpu)) / count),
    doMs: round((1000 * (finished.cpu - added.cpu)) / count), // take, lock, finish
    renewMs: round(renewMs), // a lock
    pollMs: round(pollMs), // one question whether a job is done
    storeMs: round(storeMs), // a result kept and given back
    addsPerSecond: round(count / addSeconds, 0),
    jobsPerSecond: round(count / doSeconds, 0),
    commandsPerJob: round((finished.commands - start.commands) / count, 1),
    bytesPerWaitingJob: round((added.bytes - start.bytes) / count, 0),
    bytesPerFinishedJob: round((finished.bytes - start.bytes) / count, 0),
  }),
);
await queue.obliterate({ force: true });
await queue.close();
connection.disconnect();
