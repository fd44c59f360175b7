import type { ErrorBody } from "../../protocol/answers.js";
import { api } from "./server.js";

/** Asks the server and takes its answer; what it refuses is thrown, in its own words. */
export async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  const response = await api(`api/${path}`, init).catch(() => undefined);
  if (!response)
    throw new Error("The server does not answer. Is it still running? What it was doing goes on without it.");
  if (response.ok) return (await response.json()) as T;
  const body = (await response.json().catch(() => undefined)) as Partial<ErrorBody> | undefined;
  throw new Error(body?.error?.message ?? `The server answered with ${response.status}.`);
}

/** Sends something to the server. */
export const tell = <T>(path: string, body: unknown = {}): Promise<T> =>
  ask<T>(path, { method: "POST", body: JSON.stringify(body) });
