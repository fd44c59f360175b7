import { concatBytes, messageOf, UserError } from "#base";
import { sha256 } from "./hash.js";
import { type S3Keys, signRequest } from "./sign.js";
import { type FileStore, MOST_BYTES } from "./store.js";

/** Where objects lie: s3://BUCKET/PREFIX?endpoint=http://HOST:9000&region=us-east-1 */
export interface S3Place {
  bucket: string;
  prefix: string; // of every name: empty, or ends with a slash
  endpoint: string; // without a path
  region: string;
}

export interface S3Options {
  attempts?: number; // of a request that fails by the network or by a server in trouble
  backoffMs?: number; // before the second; doubled each time
  timeoutMs?: number; // without an answer or a byte
  now?: () => number; // milliseconds since 1970
}

const SLOW_BYTES_PER_MS = 100; // an upload this slow is still waited for
const PROBE = new TextEncoder().encode("tabiya"); // written and read to see that the store works

/** What the server says when it cannot serve, as <Code> of its answer. */
const TROUBLE = /^(SlowDown|InternalError|ServiceUnavailable|RequestTimeout|Throttling)/;

/** An answer that is worth another try. */
class Passing extends Error {}

/**
 * Objects of an S3-compatible server, each under its prefix and hash. An upload is an object only when all its bytes have come
 * and have the hash that the request names, which S3 promises; what is read is checked against its name all the same.
 */
export class S3Store implements FileStore {
  constructor(
    private readonly place: S3Place,
    private readonly keys: S3Keys,
    private readonly options: S3Options = {},
  ) {}

  /** Finds out at once whether the bucket can be written and read. */
  async check(): Promise<void> {
    const hash = await sha256(PROBE);
    await this.upload(hash, PROBE);
    if (!(await this.get(hash))) throw this.error("STORE_ANSWER", "what was written could not be read back.");
  }

  async put(bytes: Uint8Array): Promise<string> {
    const hash = await sha256(bytes);
    const isThere = await this.ask("HEAD", hash, ({ ok, headers }) => ok && Number(headers.get("content-length")) === bytes.length); // biome-ignore format: a list
    if (!isThere) await this.upload(hash, bytes);
    return hash;
  }

  private upload(hash: string, bytes: Uint8Array): Promise<void> {
    return this.ask("PUT", hash, (response) => this.accept(response), bytes);
  }

  async get(hash: string, _ending = "", mostBytes = MOST_BYTES): Promise<Uint8Array | undefined> {
    const bytes = await this.ask("GET", hash, async (response, onBytes) => {
      if (response.ok) return readUpTo(response, mostBytes, onBytes);
      await this.accept(response, "NoSuchKey");
      return undefined;
    });
    if (bytes && (await sha256(bytes)) !== hash) {
      await this.remove(hash); // or whoever has the right bytes would believe that they are here
      return undefined;
    }
    return bytes;
  }

  remove(hash: string): Promise<void> {
    return this.ask("DELETE", hash, async (response) => {
      await this.accept(response, "NoSuchKey"); // some say so, others that it is gone
    });
  }

  /** Sends a request until it is answered, and reads the answer. */
  private async ask<T>(
    method: string,
    hash: string,
    read: (response: Response, onBytes: () => void) => Promise<T> | T,
    body?: Uint8Array,
  ): Promise<T> {
    const { attempts = 5, backoffMs = 200 } = this.options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.askOnce(method, hash, read, body);
      } catch (error) {
        if (error instanceof UserError) throw error;
        if (attempt >= attempts) throw this.error("STORE_UNREACHABLE", `no answer to ${method} after ${attempts} attempts (${reasonOf(error)}). Does the server run, and can it be reached from here?`); // biome-ignore format: a sentence
        await new Promise((resolve) => setTimeout(resolve, backoffMs * 2 ** (attempt - 1)));
      }
    }
  }

  private async askOnce<T>(
    method: string,
    hash: string,
    read: (response: Response, onBytes: () => void) => Promise<T> | T,
    body?: Uint8Array,
  ): Promise<T> {
    const { endpoint, bucket, prefix, region } = this.place;
    const { timeoutMs = 30_000, now = Date.now } = this.options;
    const url = new URL(`${endpoint}/${bucket}/${prefix}${hash}`);
    const payload = body ? hash : await EMPTY;
    const headers = await signRequest({ method, url, payload }, this.keys, region, new Date(now()));
    const stop = new AbortController();
    const allow = (ms: number) =>
      setTimeout(() => stop.abort(new Error(`nothing came for ${Math.round(ms / 1000)} s`)), ms);
    let timer = allow(timeoutMs + (body?.length ?? 0) / SLOW_BYTES_PER_MS);
    const onBytes = () => {
      clearTimeout(timer);
      timer = allow(timeoutMs);
    };
    try {
      const response = await fetch(url, { method, headers, body: body as Uint8Array<ArrayBuffer> | undefined, redirect: "manual", signal: stop.signal }); // biome-ignore format: a list
      return await read(response, onBytes);
    } finally {
      clearTimeout(timer);
      stop.abort(); // closes what was not read
    }
  }

  /** Throws what the server has against the request, unless that was expected. */
  private async accept(response: Response, expected?: string): Promise<void> {
    if (response.ok) return;
    const { status } = response;
    const text = (await response.text()).slice(0, 10_000);
    const code = /<Code>([\w.]{1,100})<\/Code>/.exec(text)?.[1] ?? `status ${status}`;
    if (code === expected) return;
    if (status >= 500 || status === 429 || TROUBLE.test(code)) throw new Passing(code);
    const { bucket, region } = this.place;
    if (code === "NoSuchBucket")
      throw this.error("STORE_BUCKET", `there is no bucket "${bucket}". Create it, or mend the address.`);
    if (code === "RequestTimeTooSkewed")
      throw this.error("STORE_CLOCK", "the server's clock and this machine's differ too much. Set the clock.");
    if (status === 301 || code === "PermanentRedirect" || code === "AuthorizationHeaderMalformed")
      throw this.error("STORE_REGION", `the bucket is not in the region ${region} (${code}). Name its region: ?region=...`); // biome-ignore format: a sentence
    if (status === 401 || status === 403 || /Signature|AccessKey|UserNotFound/.test(code))
      throw this.error("STORE_KEYS", `the server refuses the keys (${code}). Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that they may read, write and delete in the bucket.`); // biome-ignore format: a sentence
    throw this.error("STORE_ANSWER", `the server answers ${code}.`);
  }

  private error(code: string, message: string): UserError {
    const { endpoint, bucket, prefix } = this.place;
    return new UserError(code, `store s3://${bucket}/${prefix} at ${endpoint}: ${message}`);
  }
}

const EMPTY = sha256(new Uint8Array(0));

/** The body of an answer; undefined if it is more than may be. */
async function readUpTo(response: Response, mostBytes: number, onBytes: () => void): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    onBytes();
    length += part.length;
    if (length > mostBytes) return undefined;
    parts.push(part);
  }
  return concatBytes(parts);
}

/** Why a request failed: fetch hides it in the cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause instanceof Error && cause.message ? cause.message : messageOf(error);
}
