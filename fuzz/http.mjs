// Requests to the server of the studio, over real connections: any bytes get an answer that is no failure of the server's own, or none.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startStudio } from "#web";
import { mutate } from "./mutate.mjs";

const WORDS = ["GET ", "POST ", "PUT ", " HTTP/1.1\r\n", "\r\n", "\r\n\r\n", "%", "%zz", "%2e%2e/", "../", "\0", "Host: x\r\n", "Content-Length: 99999999999\r\n", "Content-Length: -1\r\n", "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n", "?from=", "&", "{", "}", '"', "/api/", "/api/runs/", "Range: bytes=0-\r\n", "If-None-Match: *\r\n", "Connection: Upgrade\r\n"]; // biome-ignore format: words
const PATIENCE_MS = 5_000;
const SLOTS = 32; // connections at a time

export async function create(random) {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-fuzz-"));
  writeFileSync(join(folder, "games.jsonl"), '{"fen":"4k3/8/8/8/8/8/8/4K3 w - - 0 1","score":1}\n');
  const troubles = [];
  const studio = await startStudio({
    folder,
    host: "127.0.0.1",
    port: 0,
    data: [],
    command: [process.execPath, "-e", "0"], // nothing is trained or played, whatever a request asks for
    version: "0",
    log: (text) => troubles.push(text),
  });
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

  /** All that comes back, until the server closes; the client closes its side at once. */
  const send = (text) =>
    new Promise((resolve, reject) => {
      let answer = "";
      const socket = connect(Number(port), "127.0.0.1", () => socket.end(text, "latin1"));
      socket.setTimeout(PATIENCE_MS, () => {
        socket.destroy();
        // A request whose body does not come is waited for, as an upload may take hours.
        if (answer === "") resolve(answer);
        else reject(new Error(`the answer does not end: ${answer.slice(0, 300)}`));
      });
      socket.on("data", (chunk) => {
        if (answer.length < 4096) answer += chunk.toString("latin1");
      });
      socket.on("close", () => resolve(answer)).on("error", () => resolve(answer));
    });

  return {
    slots: SLOTS,
    next: () => mutate(random, corpus, WORDS),
    async check(text) {
      const answer = await send(text);
      if (answer !== "") assert.match(answer, /^HTTP\/1\.1 [1234]\d\d /);
      assert.deepEqual(troubles, []);
      return answer.startsWith("HTTP/1.1 200");
    },
    async close() {
      assert.match(await send(request("GET /api/health")), /^HTTP\/1\.1 200/);
      await studio.close();
      rmSync(folder, { recursive: true });
    },
  };
}
