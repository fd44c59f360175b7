import { UserError } from "#base";
import { FolderStore } from "./folder.js";
import { S3Store } from "./s3.js";
import type { FileStore } from "./store.js";

const AWS = "amazonaws.com";

/**
 * Opens the store that an address names: s3://BUCKET/PREFIX?endpoint=URL&region=NAME or a folder. `settings` are the
 * variables that other programs for S3 read as well: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN,
 * AWS_REGION, AWS_ENDPOINT_URL.
 */
export async function openStore(
  address: string,
  settings: Readonly<Record<string, string | undefined>>,
): Promise<FileStore> {
  const scheme = /^([a-z0-9+.-]+):\/\//i.exec(address)?.[1];
  if (scheme === undefined) return new FolderStore(address);
  const wrong = (what: string) =>
    new UserError("STORE_ADDRESS", `store "${withoutKeys(address)}": ${what}; expected a folder or s3://BUCKET/PREFIX?endpoint=http://HOST:9000.`); // biome-ignore format: a sentence
  if (scheme !== "s3") throw wrong(`unknown kind ${scheme}://`);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const bucket = url?.hostname ?? "";
  if (!url || !/^[a-z0-9][a-z0-9.-]{1,62}$/.test(bucket)) throw wrong("its bucket has no proper name");
  if (url.username || url.password || url.port)
    throw wrong("keys and ports do not belong here; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
  for (const name of url.searchParams.keys())
    if (name !== "endpoint" && name !== "region") throw wrong(`unknown setting "${name}"`);
  const setting = (name: string, ...variables: string[]) =>
    url.searchParams.get(name) || variables.map((variable) => settings[variable]).find(Boolean);
  const region = setting("region", "AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1";
  const endpoint = setting("endpoint", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") ?? `https://s3.${region}.${AWS}`;
  if (!/^https?:\/\/[^/?#@\s]+\/?$/.test(endpoint)) throw wrong(`its endpoint is "${withoutKeys(endpoint)}", not a URL without a path`); // biome-ignore format: a sentence
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = settings; // biome-ignore format: a list
  if (!accessKeyId || !secretAccessKey)
    throw new UserError(
      "STORE_KEYS",
      `store s3://${bucket}: no keys. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.`,
    );
  const path = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, "");
  const place = { bucket, prefix: path && `${path}/`, endpoint: endpoint.replace(/\/$/, ""), region };
  const store = new S3Store(place, { accessKeyId, secretAccessKey, sessionToken });
  await store.check();
  return store;
}

/** An address without what stands before an @: it may be a secret. */
export const withoutKeys = (address: string): string => address.replace(/^([a-z0-9+.-]+:\/{0,2})?.*@/i, "$1***@");
