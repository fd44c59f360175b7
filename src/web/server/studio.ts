import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { createAdaptorServer } from "@hono/node-server";
import { makeFolder, UserError } from "#base";
import type { ErrorBody } from "../protocol/answers.js";
import { buildApp } from "./app.js";
import { Cluster } from "./cluster.js";
import { Contests } from "./contests.js";
import { DataFiles } from "./data-files.js";
import type { Door } from "./guard.js";
import { EventHub } from "./hub.js";
import { Players } from "./players.js";
import { Program } from "./program.js";
import { Runs } from "./runs.js";
import { StaticFiles } from "./static-files.js";

/** Where a studio works and listens. */
export interface StudioOptions {
  folder: string; // to work in: runs/, contests/ and data/ are below it
  host: string; // address to listen at
  port: number; // 0 for a free one
  home: string; // the folder of the package, with its recipes, networks and built page
  data: readonly string[]; // further folders with data files
  cluster?: string; // address of a Redis to watch
  command: readonly string[]; // how tabiya is called, for training and contests
  version: string;
  log(text: string): void; // for trouble of our own
}

/** A studio that runs. */
export interface Studio {
  url: string; // with the token
  close(): Promise<void>;
}

const LOOK_MS = 500; // between two looks at the runs and contests, while somebody watches

/** Starts the server of the studio. */
export async function startStudio(options: StudioOptions): Promise<Studio> {
  const { folder, host, port, version, log } = options;
  const home = (path: string) => join(options.home, path);
  const door: Door = { addresses: [host], port, token: await loadToken(folder) };
  const hub = new EventHub(randomBytes(6).toString("hex"));
  const program = new Program(options.command, folder);
  const data = new DataFiles(folder, options.data);
  const runs = new Runs(program, data, hub, home("recipes"));
  const contests = new Contests(program, data, hub);
  const cluster = new Cluster(options.cluster, hub);
  const players = new Players(runs);
  const files = new StaticFiles([
    ["/", home("dist/page")],
    ["/nets/", home("nets")],
  ]);
  const app = buildApp({ door, version, files, hub, runs, contests, cluster, data, players, log });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.requestTimeout = 0; // an upload may take hours; headers have a limit of their own
  server.on("clientError", refuseMalformed);
  await listen(server, host, port);
  const { address, port: bound } = server.address() as AddressInfo;
  door.port = bound;
  door.addresses = [...new Set([host, address, ...(isEverywhere(address) ? localAddresses() : [])])];

  let looking = false;
  const timer = setInterval(async () => {
    if (looking || hub.size === 0) return;
    void cluster.look(); // by itself: a Redis may be slow to answer
    looking = true;
    await Promise.all([runs.look(), contests.look()]).catch((error) => log(String(error)));
    looking = false;
  }, LOOK_MS);
  const shown = isEverywhere(address) ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${shown}:${bound}/#token=${door.token}`,
    async close() {
      clearInterval(timer);
      hub.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await runs.close();
    },
  };
}

const isEverywhere = (address: string): boolean => address === "0.0.0.0" || address === "::";

const localAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const reasons: Record<string, string> = {
        EADDRINUSE: "another program listens there. Is a studio running already? Else choose another port",
        EACCES: "permission denied. Choose a port above 1023",
        EADDRNOTAVAIL: "this machine has no such address",
        ENOTFOUND: "there is no such host",
      };
      const reason = reasons[error.code ?? ""];
      reject(reason ? new UserError("LISTEN", `${host}:${port}: ${reason}.`) : error);
    });
    server.listen(port, host, () => resolve());
  });
}

/** What is no HTTP at all gets a short answer too. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const isLarge = error.code === "HPE_HEADER_OVERFLOW";
  const body: ErrorBody = {
    error: isLarge
      ? { code: "HEADERS_LARGE", message: "The request's headers are too large." }
      : { code: "HTTP_SYNTAX", message: "This is not an HTTP request." },
  };
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${isLarge ? "431 Request Header Fields Too Large" : "400 Bad Request"}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`,
  );
}

/** The token of this folder's studio: kept, so that a page finds a server that was restarted. */
async function loadToken(folder: string): Promise<string> {
  const path = join(folder, ".tabiya", "studio-token");
  const found = await readFile(path, "utf8").catch(() => "");
  if (/^[\w-]{32,}$/.test(found)) return found;
  const token = randomBytes(24).toString("base64url");
  // A folder that cannot be written to has another token each time.
  await makeFolder(join(folder, ".tabiya"))
    .then(() => writeFile(path, token, { mode: 0o600 }))
    .catch(() => {});
  return token;
}
