// A real Redis for tests, which Debian's redis-server provides.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Readable } from "node:stream";

export const hasRedis = spawnSync("redis-server", ["--version"]).status === 0;

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address ? address.port : 0;
}

/** Waits for a word; the rest is read and thrown away. */
export const said = (stream: Readable, word: string): Promise<void> =>
  new Promise((resolve) => {
    stream.on("data", (chunk) => String(chunk).includes(word) && resolve());
  });

/** Starts Redis with its log of changes, so that it may be killed and started again. */
export async function startRedis(port: number, folder: string, ...more: string[]): Promise<ChildProcess> {
  const args = ["--port", String(port), "--dir", folder, "--save", "", "--appendonly", "yes", "--bind", "127.0.0.1", ...more]; // biome-ignore format: a list
  const child = spawn("redis-server", args, { stdio: ["ignore", "pipe", "ignore"] });
  await said(child.stdout, "Ready to accept");
  return child;
}

/** Starts a worker of one core, and waits until it takes jobs. */
export async function startClusterWorker(url: string): Promise<ChildProcess> {
  const args = ["dist/cli/main.js", "worker", "--cluster", url, "--capacity", "1"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  await said(child.stderr, "ready");
  return child;
}
