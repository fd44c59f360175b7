import { messageOf, UserError } from "#base";
import { readStatus, withoutKeys } from "#cluster";
import type { ClusterView } from "../protocol/answers.js";
import type { EventHub } from "./hub.js";

const LOOK_MS = 2_000; // between two questions to the Redis
const SILENT_MS = 8_000; // without an answer, after which the page is told

/** The cluster that the studio watches, if it was given one: what `tabiya cluster status` tells, while somebody looks. */
export class Cluster {
  private view: ClusterView;
  private askedMs = Number.NEGATIVE_INFINITY;
  private isAsking = false;

  constructor(
    private readonly url: string | undefined,
    private readonly hub: EventHub,
  ) {
    this.view = { address: withoutKeys(url ?? ""), status: null, trouble: "" };
  }

  get isThere(): boolean {
    return this.url !== undefined;
  }

  /** Asks the Redis, if it was not asked just now, and tells everybody. */
  async look(): Promise<void> {
    if (this.url === undefined) return;
    const silentMs = performance.now() - this.askedMs;
    if (this.isAsking && silentMs > SILENT_MS)
      this.tell({ trouble: `${this.view.address}: the Redis does not answer.` });
    if (this.isAsking || silentMs < LOOK_MS) return;
    this.isAsking = true;
    this.askedMs = performance.now();
    try {
      this.tell({ status: await readStatus(this.url), trouble: "" });
    } catch (error) {
      this.tell({ trouble: messageOf(error) });
    }
    this.isAsking = false;
  }

  async detail(): Promise<ClusterView> {
    if (this.url === undefined)
      throw new UserError("ID_UNKNOWN", "This studio watches no cluster. Start it with --cluster redis://HOST:6379.");
    await this.look();
    return this.view;
  }

  private tell(change: Partial<ClusterView>): void {
    const view = { ...this.view, ...change };
    if (JSON.stringify(view) === JSON.stringify(this.view)) return;
    this.view = view;
    this.hub.publish({ type: "cluster", cluster: view });
  }
}
