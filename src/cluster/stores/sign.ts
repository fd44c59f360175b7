// AWS Signature Version 4 for S3 (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
import { hexOf, sha256 } from "./hash.js";

/** The keys of an account of S3. */
export interface S3Keys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string; // of keys that are lent for some hours
}

const text = new TextEncoder();

async function hmac(key: Uint8Array, message: string): Promise<Uint8Array> {
  const bytes = key as Uint8Array<ArrayBuffer>;
  const imported = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, text.encode(message)));
}

/** Encoded as the signature wants it: all but letters, digits and -._~ as %XX. */
const encode = (word: string): string =>
  encodeURIComponent(word).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);

/** The headers that make a request ours; `payload` is the SHA-256 of its body, which the server checks too. */
export async function signRequest(
  { method, url, payload, headers = {} }: { method: string; url: URL; payload: string; headers?: Record<string, string> }, // biome-ignore format: a list
  { accessKeyId, secretAccessKey, sessionToken }: S3Keys,
  region: string,
  now: Date,
): Promise<Record<string, string>> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, ""); // 20130524T000000Z
  const day = time.slice(0, 8);
  const added = { ...headers, "x-amz-content-sha256": payload, "x-amz-date": time, ...(sessionToken && { "x-amz-security-token": sessionToken }) }; // biome-ignore format: a list
  const signed = Object.entries({ ...added, host: url.host })
    .map(([name, value]) => [name.toLowerCase(), value.trim()])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort();
  const path = url.pathname.split("/").map((part) => encode(decodeURIComponent(part)));
  const lines = [method, path.join("/"), query.join("&"), ...signed.map(([name, value]) => `${name}:${value}`), "", names, payload]; // biome-ignore format: a list
  const scope = `${day}/${region}/s3/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, scope, await sha256(text.encode(lines.join("\n")))].join("\n");
  let key: Uint8Array = text.encode(`AWS4${secretAccessKey}`);
  for (const part of [day, region, "s3", "aws4_request"]) key = await hmac(key, part);
  const signature = hexOf(await hmac(key, toSign));
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature}`;
  return { ...added, authorization };
}
