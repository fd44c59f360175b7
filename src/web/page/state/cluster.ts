import type { ClusterView } from "../../protocol/answers.js";
import type { StudioEvent } from "../../protocol/events.js";
import { ask } from "./ask.js";
import { Store } from "./store.js";

/** The cluster that the server watches. */
export class Cluster extends Store {
  view: ClusterView | undefined; // undefined until it was asked for
  private isWanted = false;

  async load(): Promise<void> {
    this.isWanted = true;
    this.set(await ask<ClusterView>("cluster"));
  }

  hear(event: StudioEvent): void {
    if (!this.isWanted) return;
    if (event.type === "hello") void this.load().catch(() => {});
    else if (event.type === "cluster") this.set(event.cluster);
  }

  private set(view: ClusterView): void {
    this.view = view;
    this.changed();
  }
}
