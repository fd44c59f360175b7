import type { StudioEvent } from "../../protocol/events.js";
import { server } from "./server.js";
import { Store } from "./store.js";

const AGAIN_MS = 1500; // before a new attempt, where the browser gives up by itself

/** The server's stream of all that changes; the page opens it once, for all views. */
export class Feed extends Store {
  isLive = false; // false while the server is away
  private source: EventSource | undefined;
  private readonly hearers = new Set<(event: StudioEvent) => void>();

  /** Hears every event from now on. The first is a `hello`: then everything must be asked for. */
  on(hearer: (event: StudioEvent) => void): void {
    this.hearers.add(hearer);
    if (this.isLive) hearer({ type: "hello" });
  }

  open(): void {
    if (this.source || !server.connected) return;
    const source = new EventSource(`api/events?token=${encodeURIComponent(server.token ?? "")}`);
    this.source = source;
    source.onopen = () => this.set(true);
    source.onmessage = ({ data }) => {
      const event: StudioEvent = JSON.parse(data);
      for (const hear of this.hearers) hear(event);
    };
    source.onerror = () => {
      this.set(false);
      if (source.readyState !== EventSource.CLOSED) return; // it tries again by itself
      this.source = undefined;
      setTimeout(() => this.open(), AGAIN_MS);
    };
  }

  private set(isLive: boolean): void {
    if (this.isLive === isLive) return;
    this.isLive = isLive;
    this.changed();
  }
}

export const feed = new Feed();
