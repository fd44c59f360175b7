import type { Health } from "../../protocol/answers.js";
import { Store } from "./store.js";

const KEY = "tabiya-token";

/** The local server, if the page came from one; everything that needs it asks here. */
export class ServerState extends Store {
  connected = false;
  hasCluster = false; // that the server watches
  token: string | undefined;

  /** Takes the token from the address, where the server put it; true if there was one. */
  takeToken(hash: string, storage: Pick<Storage, "getItem" | "setItem">): boolean {
    const found = /(?:^#|[#&?])token=([^&]+)/.exec(hash)?.[1];
    if (found !== undefined) storage.setItem(KEY, found);
    this.token = found ?? storage.getItem(KEY) ?? undefined;
    return found !== undefined;
  }

  /** Asks once whether there is a server. */
  async connect(): Promise<void> {
    const health = await api("api/health")
      .then(async (response) => (response.ok ? ((await response.json()) as Health) : undefined))
      .catch(() => undefined); // a static host answers with a page, or not at all
    this.connected = health?.name === "tabiya";
    this.hasCluster = health?.hasCluster === true;
    this.changed();
  }
}

export const server = new ServerState();

/** A request to the server with the token; `path` is relative to the page, as "api/runs". */
export function api(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (server.token !== undefined) headers.set("Authorization", `Bearer ${server.token}`);
  return fetch(path, { ...init, headers });
}
