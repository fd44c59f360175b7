// A cluster for tests: a real Redis, workers as processes, and a cable between them that can be cut.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer, connect as dial, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WorkerOptions } from "#cluster";
import { freePort, startRedis } from "./redis-server.js";

/** Options of a worker that are plain data. */
type Plain = Partial<
  Pick<WorkerOptions, "cluster" | "capacity" | "engines" | "bench" | "hasRuntime" | "lockMs" | "cache">
>;

export interface TestWorker {
  child: ChildProcess;
  name: string;
  said(): string; // so far
  ready: Promise<void>;
}

export class Machines {
  readonly folder = mkdtempSync(join(tmpdir(), "tabiya-machines-"));
  url = "";
  private port = 0;
  private redis: ChildProcess | undefined;
  private readonly children = new Set<ChildProcess>();
  private count = 0;

  file(...names: string[]): string {
    return join(this.folder, ...names);
  }

  async start(): Promise<void> {
    this.port = await freePort();
    this.url = `redis://127.0.0.1:${this.port}`;
    await this.startRedis();
  }

  private async startRedis(): Promise<void> {
    this.redis = await startRedis(this.port, this.folder, "--maxmemory-policy", "noeviction");
    this.children.add(this.redis);
  }

  /** Kills Redis as a power cut would, and starts it again from its log. */
  async restartRedis(): Promise<void> {
    if (!this.redis) return;
    this.redis.kill("SIGKILL");
    await once(this.redis, "exit");
    await this.startRedis();
  }

  /** Starts a worker; its folder of files may be a disk of a few kilobytes. */
  worker(options: Plain = {}, { smallDisk = false } = {}): TestWorker {
    const name = `worker-${++this.count}`;
    const cache = options.cache ?? this.file(`cache-${name}`);
    if (options.cache === undefined) mkdirSync(cache);
    const plain = { cluster: this.url, capacity: 1, lockMs: 1_000, ...options, name, cache };
    const own = [process.execPath, "test/cluster-worker.mjs", JSON.stringify(plain)];
    const mount = 'mount -t tmpfs -o size=16k none "$0" && exec "$@"';
    const [program, ...args] = smallDisk ? ["unshare", "-rm", "sh", "-c", mount, cache, ...own] : own;
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.children.add(child);
    let text = "";
    const ready = new Promise<void>((resolve) => {
      child.stdout.on("data", (chunk) => {
        text += chunk;
        if (text.includes("ready")) resolve();
      });
    });
    return { child, name, said: () => text, ready };
  }

  /** So many workers, ready. */
  async workers(count: number, options: Plain = {}): Promise<TestWorker[]> {
    const started = Array.from({ length: count }, () => this.worker(options));
    await Promise.all(started.map(({ ready }) => ready));
    return started;
  }

  close(): void {
    for (const child of this.children) child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A cable to a port: it can be cut, with an end of connections or in silence. */
export class Cable {
  url = "";
  private readonly pairs = new Set<[Socket, Socket]>();
  private state: "whole" | "cut" | "silent" = "whole";
  private readonly server = createServer((near) => {
    if (this.state === "cut") return near.destroy();
    const far = dial(this.port, "127.0.0.1");
    const pair: [Socket, Socket] = [near, far];
    this.pairs.add(pair);
    for (const [from, to] of [pair, [far, near]] as const) {
      from.on("error", () => {});
      from.on("close", () => {
        to.destroy();
        this.pairs.delete(pair);
      });
      from.pipe(to);
    }
    if (this.state === "silent") this.hold(pair);
    return undefined;
  });

  constructor(private readonly port: number) {}

  static async to(url: string): Promise<Cable> {
    const cable = new Cable(Number(new URL(url).port));
    cable.server.listen(0, "127.0.0.1");
    await once(cable.server, "listening");
    const address = cable.server.address();
    cable.url = `redis://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
    return cable;
  }

  private hold([near, far]: [Socket, Socket]): void {
    near.unpipe(far);
    far.unpipe(near);
    near.pause();
    far.pause();
  }

  /** Nothing passes any more, and nobody is told: what is sent meanwhile arrives when it is mended. */
  silence(): void {
    this.state = "silent";
    for (const pair of this.pairs) this.hold(pair);
  }

  /** All connections end, and no new one comes about. */
  cut(): void {
    this.state = "cut";
    for (const [near, far] of this.pairs) {
      near.destroy();
      far.destroy();
    }
  }

  mend(): void {
    this.state = "whole";
    for (const [near, far] of this.pairs) {
      near.pipe(far);
      far.pipe(near);
    }
  }

  close(): void {
    this.cut();
    this.server.close();
  }
}
