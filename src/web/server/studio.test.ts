import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test, vi } from "vitest";
import { Random } from "#base";
import type { ContestDetail, DataInfo } from "../protocol/answers.js";
import type { StudioEvent } from "../protocol/events.js";
import { type Studio, startStudio } from "./studio.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-studio-"));
const notes: string[] = [];
let studio: Studio;
let base: string;
let token: string;

const options = {
  folder,
  host: "127.0.0.1",
  port: 0,
  data: [],
  home: process.cwd(),
  command: [process.execPath, "dist/cli/main.js"].map((part, i) => (i === 0 ? part : join(process.cwd(), part))),
  version: "1.2.3",
  log: (text: string) => void notes.push(text),
};

beforeAll(async () => {
  studio = await startStudio(options);
  [base, token] = studio.url.split("/#token=");
});
afterAll(async () => {
  await studio.close();
  rmSync(folder, { recursive: true, force: true });
});

const api = (path: string, init: RequestInit = {}) =>
  fetch(`${base}/api/${path}`, { ...init, headers: { Authorization: `Bearer ${token}`, ...init.headers } });
const post = (path: string, body: unknown) => api(path, { method: "POST", body: JSON.stringify(body) });

/** The error of a refused request: its status and code. */
async function refused(response: Response): Promise<[number, string]> {
  const { error } = await response.json();
  assert.ok(error.message.length > 10 && error.message.length < 500, error.message);
  return [response.status, error.code];
}

/** A request with headers that fetch does not let us write. */
function raw(path: string, headers: Record<string, string>, method = "GET"): Promise<Response> {
  const { port } = new URL(base);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host: "127.0.0.1", path, method, headers }, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      resolve(new Response(Buffer.concat(chunks), { status: answer.statusCode }));
    });
    sent.on("error", reject).end();
  });
}

const MATCH = { kind: "match", players: ["random", "random"], games: 8, adjudication: { maxMoves: 20 } };

test("anybody may ask whether the server is there", async () => {
  const response = await fetch(`${base}/api/health`);
  assert.deepEqual(await response.json(), { name: "tabiya", version: "1.2.3", hasCluster: false });
  assert.equal(response.headers.get("cross-origin-opener-policy"), "same-origin");
  assert.equal(response.headers.get("cross-origin-embedder-policy"), "require-corp");
});

test("requests to another host name are refused, those to localhost are not", async () => {
  const { port } = new URL(base);
  for (const host of ["evil.example", `evil.example:${port}`, "127.0.0.1:1", "127.0.0.1.evil.example"])
    assert.deepEqual(await refused(await raw("/api/health", { Host: host })), [403, "HOST_WRONG"], host);
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`])
    assert.equal((await raw("/api/health", { Host: host })).status, 200, host);
});

test("requests of a foreign page are refused", async () => {
  for (const origin of ["http://evil.example", "null", "http://127.0.0.1:1", base.replace("http", "https")])
    assert.deepEqual(await refused(await api("runs", { headers: { Origin: origin } })), [403, "ORIGIN_FOREIGN"]);
  assert.equal((await api("runs", { headers: { Origin: base } })).status, 200);
});

test("without the token nothing is told, changed or streamed", async () => {
  const headers = { Authorization: "Bearer nonsense" };
  for (const path of ["runs", "contests", "data", "events", "events?token=x", "recipes", "players"])
    assert.deepEqual(await refused(await api(path, { headers })), [401, "TOKEN_MISSING"], path);
  const start = { method: "POST", body: JSON.stringify({ name: "a", spec: MATCH }), headers };
  assert.deepEqual(await refused(await api("contests", start)), [401, "TOKEN_MISSING"]);
  assert.deepEqual(await refused(await api("data/a.pgn", { method: "PUT", body: "x", headers })), [
    401,
    "TOKEN_MISSING",
  ]);
  assert.equal(existsSync(join(folder, "contests")), false);
  assert.equal(existsSync(join(folder, "data")), false);
});

test("no address leads out of the folders", async () => {
  const paths = [
    "/../package.json",
    "/..%2f..%2fpackage.json",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/nets/../package.json",
    "//etc/passwd",
  ];
  for (const path of paths) {
    const response = await raw(path, { Host: new URL(base).host });
    assert.equal(response.status, 404, path);
  }
  for (const id of ["..%2f..%2fetc", "a%00b", encodeURIComponent("../../../etc/passwd")]) {
    for (const path of [`runs/${id}`, `contests/${id}`, `data/${id}/info`, `contests/${id}/pgn`, `runs/${id}/log`]) {
      const response = await raw(`/api/${path}`, { Host: new URL(base).host, Authorization: `Bearer ${token}` });
      assert.equal(response.status, 404, path);
    }
  }
  for (const name of ["..%2Fx.pgn", "%2Fx.pgn", ".x.pgn", "x%00.pgn", "x.exe", `${"x".repeat(70)}.pgn`]) {
    const response = await api(`data/${name}`, { method: "PUT", body: "x" });
    assert.equal((await refused(response))[0], 400, name);
  }
  const outside = { name: "out", settings: { family: "nnue", size: "tiny", data: ["/etc/passwd"] } };
  assert.deepEqual(await refused(await post("runs", outside)), [404, "ID_UNKNOWN"]);
  const book = { name: "out", spec: { ...MATCH, openings: { file: "../../book.epd" } } };
  assert.deepEqual(await refused(await post("contests", book)), [404, "ID_UNKNOWN"]);
});

test("bodies that are too large, no JSON or of another shape change nothing", async () => {
  const large = JSON.stringify({ name: "a", spec: { text: "x".repeat(300_000) } });
  assert.deepEqual(await refused(await api("contests", { method: "POST", body: large })), [413, "BODY_LARGE"]);
  for (const body of ["", "{", "null", "[]", "\xff", '{"name":1}', '{"name":"a"}', '{"name":"../a","spec":{}}'])
    assert.equal((await refused(await api("contests", { method: "POST", body })))[0], 400, body);
  for (const spec of [{}, { ...MATCH, kind: "war" }, { ...MATCH, players: [] }, { ...MATCH, gmaes: 3 }])
    assert.deepEqual(await refused(await post("contests", { name: "a", spec })), [400, "DATA_SHAPE"]);
  for (const player of ["nothing@ab", "random@ab", "nnue@none"]) {
    const response = await post("contests", { name: "a", spec: { ...MATCH, players: ["random", player] } });
    assert.match((await refused(response))[1], /^PLAYER_/, player);
  }
  assert.deepEqual(await (await api("contests")).json(), { contests: [] });
});

test("what is not there is told so", async () => {
  for (const path of ["runs/none", "runs/none/metrics", "contests/none", "contests/none/games/1", "data/none.bin/info"])
    assert.deepEqual(await refused(await api(path)), [404, "ID_UNKNOWN"], path);
  for (const path of ["runs/none/stop", "contests/none/resume"])
    assert.deepEqual(await refused(await post(path, {})), [404, "ID_UNKNOWN"], path);
  assert.deepEqual(await refused(await api("nothing")), [404, "ROUTE_UNKNOWN"]);
  assert.deepEqual(await refused(await api("runs/none", { method: "DELETE" })), [404, "ROUTE_UNKNOWN"]);
});

test("a thousand malformed requests get short answers, and the server lives", async () => {
  const { port } = new URL(base);
  const random = new Random(1);
  const pieces = ["GET", "POST", " ", "/", "api/", "runs", "%", "%zz", "..", "\r\n", "\0", "Host:", "x".repeat(50), "{", "}", "HTTP/1.1", "ÿ", "Content-Length: -1", "Transfer-Encoding: chunked", "\r\n\r\n", "token=", `Host: 127.0.0.1:${port}`]; // biome-ignore format: a list
  const send = (text: string) =>
    new Promise<string>((resolve) => {
      let answer = "";
      const socket = connect(Number(port), "127.0.0.1", () => socket.end(text, "latin1"));
      socket.on("data", (chunk) => {
        answer += chunk;
      });
      socket.on("close", () => resolve(answer)).on("error", () => resolve(answer));
    });
  for (let batch = 0; batch < 20; batch++) {
    const texts = Array.from({ length: 50 }, () =>
      Array.from({ length: 1 + random.below(12) }, () => pieces[random.below(pieces.length)]).join(""),
    );
    const answers = await Promise.all(texts.map(send));
    for (const answer of answers) {
      assert.ok(answer.length < 3_000, answer);
      if (answer !== "") assert.match(answer, /^HTTP\/1\.1 [234]\d\d /);
    }
  }
  assert.equal((await fetch(`${base}/api/health`)).status, 200);
  assert.deepEqual(notes, []);
});

test("a request whose sender goes away in the middle of it is no trouble of ours", async () => {
  const { port } = new URL(base);
  const head = `POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n`;
  const before = notes.length;
  await new Promise((resolve) => {
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.write(`${head}Content-Length: 500\r\n\r\n{"name":`);
      setTimeout(() => socket.destroy(), 50);
    });
    socket.on("close", resolve);
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual(notes.slice(before), []);
  assert.equal((await fetch(`${base}/api/health`)).status, 200);
});

test("a file is uploaded, looked into, and not written over", async () => {
  const game = '[Event "x"]\n[Result "1-0"]\n\n1. e4 { [%eval 0.3] } e5 2. Qh5 Ke7 3. Qxe5# 1-0\n\n';
  const response = await api("data/games.pgn", { method: "PUT", body: game });
  assert.deepEqual([response.status, await response.json()], [201, { id: "data/games.pgn" }]);
  assert.equal(readFileSync(join(folder, "data/games.pgn"), "utf8"), game);
  const { files } = await (await api("data")).json();
  assert.deepEqual(files, [{ id: "data/games.pgn", bytes: game.length, kind: "games" }]);
  const info: DataInfo = await (await api(`data/${encodeURIComponent("data/games.pgn")}/info`)).json();
  assert.deepEqual([info.kind, info.records, info.warnings], ["games", 1, []]);
  assert.deepEqual(await refused(await api("data/games.pgn", { method: "PUT", body: "x" })), [409, "NAME_TAKEN"]);
  assert.deepEqual(readdirSync(join(folder, "data")), ["games.pgn"]);
});

test("a contest is played, listed, shown and downloaded; one of the command line appears too", async () => {
  assert.deepEqual(await (await post("contests", { name: "first", spec: MATCH })).json(), { id: "first" });
  assert.deepEqual(await refused(await post("contests", { name: "first", spec: MATCH })), [409, "NAME_TAKEN"]);
  const detail = await vi.waitFor(async () => {
    const found: ContestDetail = await (await api("contests/first")).json();
    assert.equal(found.contest.phase, "finished");
    return found;
  }, 200_000);
  assert.deepEqual([detail.contest.played, detail.games], [8, 8]);
  assert.equal(
    detail.endings.reduce((sum, { count }) => sum + count, 0),
    8,
  );
  const { games } = await (await api("contests/first/games")).json();
  const { pgn } = await (await api(`contests/first/games/${games[2].index}`)).json();
  assert.match(pgn, /^\[Event "Tabiya match"\]/);
  assert.equal((await (await api("contests/first/pgn")).text()).match(/\[Event /g)?.length, 8);
  assert.deepEqual(await refused(await post("contests/first/stop", {})), [409, "NOT_RUNNING"]);

  // What is stopped and resumed needs no body, and answers with its id.
  const long = { ...MATCH, players: ["builtin@ab", "random"], games: 10_000, limits: { nodes: 1_000 } };
  await post("contests", { name: "long", spec: long });
  for (const verb of ["stop", "resume", "stop"]) {
    const act = async () => {
      const response = await api(`contests/long/${verb}`, { method: "POST" });
      assert.deepEqual([response.status, await response.json()], [200, { id: "long" }]);
    };
    await vi.waitFor(act, { timeout: 200_000, interval: 500 }); // a contest that is stopped ends its games first
  }
  await vi.waitFor(async () => {
    const { contest }: ContestDetail = await (await api("contests/long")).json();
    assert.equal(contest.phase, "stopped");
  }, 200_000);
  for (const ending of ["contest.json", "pgn"]) rmSync(join(folder, `contests/long.${ending}`), { force: true });

  const status = readFileSync(join(folder, "contests/first.contest.json"), "utf8");
  writeFileSync(join(folder, "other.contest.json"), status);
  const { contests } = await (await api("contests")).json();
  assert.deepEqual(contests.map(({ name }: { name: string }) => name).sort(), ["first", "other"]);
  rmSync(join(folder, "other.contest.json"));
});

/** Opens a stream and gathers its events. */
async function listen(headers: Record<string, string> = {}) {
  const stop = new AbortController();
  const response = await fetch(`${base}/api/events?token=${token}`, { headers, signal: stop.signal });
  assert.equal(response.headers.get("content-type"), "text/event-stream");
  const events: { id: string; event: StudioEvent }[] = [];
  const reading = (async () => {
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += new TextDecoder().decode(chunk);
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        const found = /^id: (.*)\ndata: (.*)$/.exec(part);
        if (found) events.push({ id: found[1], event: JSON.parse(found[2]) });
      }
    }
  })().catch(() => {});
  const close = () => {
    stop.abort();
    return reading;
  };
  return { events, close };
}

const line = (step: number) =>
  `${JSON.stringify({ kind: "train", step, epoch: 1, time: step, values: { loss: 1 / step } })}\n`;

test("two hundred clients hear of what is added to a run, and of its resume", async () => {
  const run = join(folder, "runs/watched");
  mkdirSync(run, { recursive: true });
  writeFileSync(join(run, "config.json"), JSON.stringify({ family: "nnue", size: "tiny", epochs: 2 }));
  writeFileSync(join(run, "metrics.jsonl"), line(10));
  const clients = await Promise.all(Array.from({ length: 200 }, () => listen()));
  for (const { events } of clients) await vi.waitFor(() => assert.equal(events[0]?.event.type, "hello"));
  await vi.waitFor(() => assert.ok(clients[0].events.some(({ event }) => event.type === "run")), 5_000);
  appendFileSync(join(run, "metrics.jsonl"), line(20) + line(30).slice(0, 20));
  appendFileSync(join(run, "metrics.jsonl"), line(30).slice(20));
  for (const { events } of clients)
    await vi.waitFor(() => {
      const steps = events.flatMap(({ event }) =>
        event.type === "metrics" ? event.lines.map(({ step }) => step) : [],
      );
      assert.deepEqual(steps, [20, 30]);
    }, 200_000);
  appendFileSync(join(run, "metrics.jsonl"), `\n{"kind":"resume","step":20,"time":1}\n${line(30)}`);
  for (const { events } of clients)
    await vi.waitFor(() => assert.ok(events.some(({ event }) => event.type === "metrics-reset")), 10_000);
  const { lines } = await (await api("runs/watched/metrics")).json();
  assert.deepEqual(
    lines.map(({ step }: { step: number }) => step),
    [10, 20, 30],
  );

  // Who comes back with the number of its last event gets the rest; who asks a server of another life, everything.
  const { events } = clients[0];
  await Promise.all(clients.map(({ close }) => close()));
  const back = await listen({ "Last-Event-ID": events[1].id });
  const rest = events.slice(2).map(({ id }) => id);
  await vi.waitFor(
    () =>
      assert.deepEqual(
        back.events.slice(0, rest.length).map(({ id }) => id),
        rest,
      ),
    5_000,
  );
  const other = await listen({ "Last-Event-ID": "another-5" });
  await vi.waitFor(() => assert.equal(other.events[0]?.event.type, "hello"));
  await Promise.all([back.close(), other.close()]);
});

test("a server that is started again in the folder has the same token", async () => {
  const again = await startStudio(options);
  assert.equal(again.url.split("=")[1], token);
  await again.close();
});

test("a port that is taken is told in words", async () => {
  const port = Number(new URL(base).port);
  await assert.rejects(startStudio({ ...options, port }), { code: "LISTEN", message: /another program listens/ });
});
