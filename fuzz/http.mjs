// Requests to the server of the studio: any bytes get an answer that is no failure of the server's own, or none. They reach
// the server through streams in memory, one in a hundred over a real connection, which takes ten times as long.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { startStudio } from "#web";
import { mutate } from "./mutate.mjs";

const WORDS = ["GET ", "POST ", "PUT ", " HTTP/1.1\r\n", "\r\n", "\r\n\r\n", "%", "%zz", "%2e%2e/", "../", "\0", "Host: x\r\n", "Content-Length: 99999999999\r\n", "Content-Length: -1\r\n", "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n", "?from=", "&", "{", "}", '"', "/api/", "/api/runs/", "Range: bytes=0-\r\n", "If-None-Match: *\r\n", "Connection: Upgrade\r\n"]; // biome-ignore format: words
const PATIENCE_MS = 25_000;
const END_MS = 100; // after which the client closes its side: a server need not answer one that went away
const SLOTS = 128; // connections at a time
const REAL = 100; // one in so many is a real connection
// Nothing is trained or played, whatever a request asks for.
const COMMAND = process.platform === "win32" ? [process.execPath, "-e", "0"] : ["true"];

export async function create(random) {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-fuzz-"));
  writeFileSync(join(folder, "games.jsonl"), '{"fen":"4k3/8/8/8/8/8/8/4K3 w - - 0 1","score":1}\n');
  const troubles = [];
  let server;
  const { listen } = Server.prototype;
  Server.prototype.listen = function (...args) {
    server = this;
    return listen.apply(this, args);
  };
  const studio = await startStudio({
    home: fileURLToPath(new URL("..", import.meta.url)),
    folder,
    host: "127.0.0.1",
    port: 0,
    data: [],
    command: COMMAND,
    version: "0",
    log: (text) => troubles.push(text),
  });
  Server.prototype.listen = listen;
  const { port, hash } = new URL(studio.url);
  const token = hash.slice("#token=".length);
  const request = (line, body = "") =>
    `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  // Not the lists of players and recipes, which take 50 ms each to make.
  const gets = ["/", "/api/health", "/api/data", "/api/data/games.jsonl/info", "/api/runs", "/api/runs/x", "/api/runs/x/metrics?from=12", "/api/runs/x/log", "/api/runs/x/checkpoints/best/network", "/api/contests/x/games?from=1", "/api/contests/x/games/3", "/nets/manifest.json", "/index.html"]; // biome-ignore format: a list
  const corpus = [
    ...gets.map((path) => request(`GET ${path}`)),
    request("POST /api/runs", '{"name":"x/y","settings":{"data":["games.jsonl"],"family":"nnue","size":"tiny"}}'),
    request("POST /api/contests", '{"name":"x/y","spec":{"kind":"match","players":["a","b"],"games":2}}'),
    request("POST /api/runs/x/stop", "{}"),
    request("PUT /api/data/a%2Fb", "hello"),
  ];

  /** All that comes back, until the server closes. */
  const send = (text, isReal) =>
    new Promise((resolve, reject) => {
      let answer = "";
      const keep = (chunk) => {
        if (answer.length < 4096) answer += chunk.toString("latin1");
      };
      const late = setTimeout(() => {
        socket.destroy();
        // A request whose body does not come is waited for, as an upload may take hours.
        if (answer === "") resolve(answer);
        else reject(new Error(`the answer does not end: ${answer.slice(0, 300)}`));
      }, PATIENCE_MS);
      const socket = isReal
        ? connect(Number(port), "127.0.0.1", () => {
            socket.write(text, "latin1");
            setTimeout(() => socket.end(), END_MS);
          }).on("data", keep)
        : wire(Buffer.from(text, "latin1"), keep);
      socket.on("error", () => {});
      socket.on("close", () => {
        clearTimeout(late);
        resolve(answer);
      });
      if (!isReal) server.emit("connection", socket);
    });

  return {
    slots: SLOTS,
    next: () => mutate(random, corpus, WORDS),
    async check(text) {
      const answer = await send(text, random.below(REAL) === 0);
      if (answer !== "") assert.match(answer, /^HTTP\/1\.1 [1234]\d\d /);
      assert.deepEqual(troubles, []);
      return answer.startsWith("HTTP/1.1 200");
    },
    async close() {
      assert.match(await send(request("GET /api/health"), true), /^HTTP\/1\.1 200/);
      await studio.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** The server's end of a connection in memory: gives it the bytes, hands on what it writes, and ends soon after. */
function wire(bytes, keep) {
  let given = false;
  const socket = new Duplex({
    read() {
      if (given) return;
      given = true;
      this.push(bytes);
      setTimeout(() => this.push(null), END_MS);
    },
    write(chunk, _, done) {
      keep(chunk);
      done();
    },
  });
  socket.remoteAddress = "127.0.0.1";
  return socket;
}
