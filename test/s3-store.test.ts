// Files between machines on a real S3 server, and a gate in front of it that makes the trouble.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { type FileStore, openStore, S3Store, sha256, signRequest } from "#cluster";
import { BUCKET, hasS3, type S3Server, startS3 } from "./s3-server.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-s3-"));
const bytesOf = (text: string) => new TextEncoder().encode(text);
let server: S3Server;
let store: FileStore;
const address = (settings = "", bucket = BUCKET) => `s3://${bucket}/a/b?endpoint=${server.endpoint}${settings}`;

beforeAll(async () => {
  if (!hasS3) return;
  server = await startS3(folder);
  store = await openStore(address(), server.keys);
});
afterAll(() => {
  server?.child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("a request is signed as the example of AWS is", async () => {
  const keys = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
  const date = new Date("2013-05-24T00:00:00Z");
  const empty = await sha256(new Uint8Array(0));
  const url = new URL("https://examplebucket.s3.amazonaws.com/test.txt");
  const get = await signRequest({ method: "GET", url, payload: empty, headers: { Range: "bytes=0-9" } }, keys, "us-east-1", date); // biome-ignore format: a list
  assert.match(get.authorization, /Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41$/);
  const list = new URL("https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J");
  const listed = await signRequest({ method: "GET", url: list, payload: empty }, keys, "us-east-1", date);
  assert.match(listed.authorization, /Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7$/);
});

test.skipIf(!hasS3)("a file is put, found by its hash, and forgotten; what is not there is undefined", async () => {
  const network = crypto.getRandomValues(new Uint8Array(60_000));
  const hash = await store.put(network);
  assert.equal(hash, await sha256(network));
  assert.deepEqual(await store.get(hash), network);
  assert.equal(await store.put(network), hash);
  assert.deepEqual(await store.get(hash, "", 60_000), network);
  assert.equal(await store.get(hash, "", 59_999), undefined); // more than may be
  await store.remove(hash);
  await store.remove(hash);
  assert.equal(await store.get(hash), undefined);
});

test.skipIf(!hasS3)("bytes that are not what their name says are not there, and can be put again", async () => {
  const hash = await store.put(bytesOf("a sound network"));
  const url = new URL(`${server.endpoint}/${BUCKET}/a/b/${hash}`);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = server.keys;
  const payload = await sha256(bytesOf("a wrong network")); // as long as the sound one
  const headers = await signRequest({ method: "PUT", url, payload }, { accessKeyId, secretAccessKey }, "us-east-1", new Date()); // biome-ignore format: a list
  assert.ok((await fetch(url, { method: "PUT", headers, body: "a wrong network" })).ok);
  assert.equal(await store.get(hash), undefined);
  await store.put(bytesOf("a sound network"));
  assert.deepEqual(await store.get(hash), bytesOf("a sound network"));
});

test.skipIf(!hasS3)("an upload that is cut off leaves nothing", async () => {
  const body = crypto.getRandomValues(new Uint8Array(60_000));
  const hash = await sha256(body);
  const url = new URL(`${server.endpoint}/${BUCKET}/a/b/${hash}`);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = server.keys;
  const headers = await signRequest({ method: "PUT", url, payload: hash }, { accessKeyId, secretAccessKey }, "us-east-1", new Date()); // biome-ignore format: a list
  const socket = connect(Number(url.port), url.hostname);
  const lines = Object.entries({ ...headers, host: url.host, "content-length": "60000" }).map(
    ([k, v]) => `${k}: ${v}\r\n`,
  );
  socket.write(`PUT ${url.pathname} HTTP/1.1\r\n${lines.join("")}\r\n`);
  socket.write(body.subarray(0, 30_000));
  await new Promise((resolve) => setTimeout(resolve, 200));
  socket.destroy(); // as kill -9 does
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(await store.get(hash), undefined);
  await store.put(body);
  assert.deepEqual(await store.get(hash), body);
});

const refused = (code: string, message: RegExp) => (error: Error & { code?: string }) => {
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  assert.ok(!error.message.includes("HIDDEN"), error.message);
  return true;
};

test.skipIf(!hasS3)(
  "wrong keys, a missing bucket and a mistaken address are told at once, without the keys",
  async () => {
    const { keys } = server;
    await assert.rejects(openStore(address(), { ...keys, AWS_SECRET_ACCESS_KEY: "HIDDEN-and-wrong" }), refused("STORE_KEYS", /refuses the keys \(SignatureDoesNotMatch\)/)); // biome-ignore format: a list
    await assert.rejects(openStore(address(), { ...keys, AWS_ACCESS_KEY_ID: "nobody" }), refused("STORE_KEYS", /refuses the keys/)); // biome-ignore format: a list
    await assert.rejects(openStore(address(), {}), refused("STORE_KEYS", /Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/)); // biome-ignore format: a list
    await assert.rejects(openStore(address("", "no-such-bucket"), keys), refused("STORE_BUCKET", /no bucket "no-such-bucket"/)); // biome-ignore format: a list
    for (const wrong of ["http://host/bucket", "s3://", "s3://B!/x", "s3://ID:HIDDEN@bucket/x", "s3://bucket/x?endpoint=ftp://h", "s3://bucket/x?speed=1"]) // biome-ignore format: a list
      await assert.rejects(openStore(wrong, keys), refused("STORE_ADDRESS", /expected a folder or s3:/), wrong);
    const place = { bucket: BUCKET, prefix: "", endpoint: "http://127.0.0.1:1", region: "us-east-1" };
    const nobody = new S3Store(place, { accessKeyId: "a", secretAccessKey: "HIDDEN" }, { attempts: 2, backoffMs: 1 });
    await assert.rejects(nobody.check(), refused("STORE_UNREACHABLE", /after 2 attempts/));
  },
);

/** A gate in front of the server: each request meets the next trouble, and passes when there is none left. */
async function startGate(
  troubles: ("500" | "slow down" | "silence" | "half")[],
): Promise<{ gate: Server; url: string }> {
  const target = new URL(server.endpoint);
  const gate = createServer((asked, answer) => {
    const trouble = troubles.shift();
    if (trouble === "silence") return; // never answers
    if (trouble === "500") return answer.writeHead(500).end("<Code>InternalError</Code>");
    if (trouble === "slow down") return answer.writeHead(503).end("<Code>SlowDown</Code>");
    const { method, headers, url: path } = asked;
    const passed = request({ host: target.hostname, port: target.port, method, headers, path }, (found) => {
      answer.writeHead(found.statusCode!, found.headers);
      if (trouble !== "half") return found.pipe(answer);
      found.once("data", (part: Buffer) => answer.write(part.subarray(0, part.length / 2), () => answer.destroy()));
    });
    asked.pipe(passed);
  }).listen(0, "127.0.0.1");
  await once(gate, "listening");
  const at = gate.address();
  return { gate, url: `http://127.0.0.1:${typeof at === "object" ? at?.port : 0}` };
}

test.skipIf(!hasS3)("a server in trouble is asked again: errors, silence, an answer that breaks off", async () => {
  const body = crypto.getRandomValues(new Uint8Array(50_000));
  const troubles: Parameters<typeof startGate>[0] = [];
  const { gate, url } = await startGate(troubles);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = server.keys;
  const place = { bucket: BUCKET, prefix: "gate/", endpoint: url, region: "us-east-1" };
  // The gate passes the Host of the client on, so that signatures stay right.
  const through = new S3Store(place, { accessKeyId, secretAccessKey }, { backoffMs: 1, timeoutMs: 300 });
  try {
    troubles.push("500", "slow down", "silence");
    const hash = await through.put(body);
    assert.equal(troubles.length, 0);
    troubles.push("half", "500", "half");
    assert.deepEqual(await through.get(hash), body);
    assert.equal(troubles.length, 0);
    troubles.push(...Array<"silence">(5).fill("silence"));
    await assert.rejects(through.get(hash), refused("STORE_UNREACHABLE", /after 5 attempts \(nothing came for/));
    troubles.length = 0;
    await through.remove(hash);
    assert.equal(await through.get(hash), undefined);
  } finally {
    gate.closeAllConnections();
    gate.close();
  }
});
