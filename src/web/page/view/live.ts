// The server's side of the page's state: what Train, Judge and Cluster show, and its runs among the networks.
import type { RunSummary } from "../../protocol/runs.js";
import { Cluster } from "../state/cluster.js";
import { Contests } from "../state/contests.js";
import { feed } from "../state/feed.js";
import type { NetworkEntry } from "../state/networks.js";
import { Runs } from "../state/runs.js";
import { networks } from "./studio.js";

export const runs = new Runs();
export const contests = new Contests();
export const cluster = new Cluster();

/** A checkpoint of a run as a network that can take a seat; `version` changes when it is saved anew. */
export const checkpointEntry = (run: RunSummary, checkpoint: string, version: number): NetworkEntry => ({
  id: `run ${run.id}/${checkpoint}`,
  name: `${run.id} ${checkpoint}`,
  family: run.family,
  address: new URL(runs.addressOf(run.id, checkpoint, version), document.baseURI).href,
  origin: "server",
});

// The best checkpoint of every run can take a seat, and changes there when a better one is saved.
runs.subscribe(({ list }) => {
  const found = list.flatMap((run) => (run.bestMs === null ? [] : [checkpointEntry(run, "best", run.bestMs)]));
  for (const entry of found) if (networks.find(entry.id)?.address !== entry.address) networks.put(entry);
  const ids = new Set(list.map(({ id }) => id));
  for (const { id, origin } of networks.all)
    if (origin === "server" && !ids.has(id.replace(/^run |\/[^/]*$/g, ""))) networks.remove(id);
});
feed.on((event) => runs.hear(event));
feed.on((event) => contests.hear(event));
feed.on((event) => cluster.hear(event));
feed.open();
