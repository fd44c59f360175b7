import type { StudioEvent } from "../protocol/events.js";

const KEPT = 2_000; // events that a client may have missed and still get
const KEPT_BYTES = 4 << 20;
const BEHIND = 1_000; // pieces a client may leave unread before it is sent away, to reconnect
const BEAT_MS = 15_000; // a line that means nothing, so that both sides see whether the other is there

type Client = ReadableStreamDefaultController<Uint8Array>;

/**
 * One stream for everything that changes (server-sent events). Each event is written as text once for all clients. A client
 * that comes back with the number of its last event gets what it missed, or, if that is too much or the server is another
 * by now, a `hello` that tells it to ask for everything anew.
 */
export class EventHub {
  private readonly clients = new Set<Client>();
  private readonly past: { number: number; bytes: Uint8Array }[] = [];
  private pastBytes = 0;
  private number = 0;
  private readonly beat = setInterval(() => this.send(encode(": beat\n\n")), BEAT_MS).unref();

  /** `era` names this life of the server. */
  constructor(private readonly era: string) {}

  get size(): number {
    return this.clients.size;
  }

  publish(event: StudioEvent): void {
    this.number++;
    const bytes = this.frame(event);
    this.past.push({ number: this.number, bytes });
    this.pastBytes += bytes.length;
    while (this.past.length > KEPT || this.pastBytes > KEPT_BYTES) this.pastBytes -= this.past.shift()!.bytes.length;
    this.send(bytes);
  }

  /** A new client's stream. */
  open(lastId: string | undefined): ReadableStream<Uint8Array> {
    let own: Client;
    return new ReadableStream<Uint8Array>(
      {
        start: (client) => {
          own = client;
          client.enqueue(encode("retry: 1000\n\n"));
          const missed = this.missedSince(lastId);
          if (missed) for (const { bytes } of missed) client.enqueue(bytes);
          else client.enqueue(this.frame({ type: "hello" }));
          this.clients.add(client);
        },
        cancel: () => void this.clients.delete(own),
      },
      { highWaterMark: BEHIND },
    );
  }

  close(): void {
    clearInterval(this.beat);
    for (const client of this.clients) client.close();
    this.clients.clear();
  }

  private frame(event: StudioEvent): Uint8Array {
    return encode(`id: ${this.era}-${this.number}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  private missedSince(lastId: string | undefined) {
    const [era, number] = lastId?.split("-") ?? [];
    const last = Number(number);
    if (era !== this.era || !(last <= this.number)) return undefined;
    const oldest = this.past[0]?.number ?? this.number + 1;
    return last + 1 >= oldest ? this.past.filter((event) => event.number > last) : undefined;
  }

  private send(bytes: Uint8Array): void {
    for (const client of this.clients) {
      if ((client.desiredSize ?? 0) <= 0) {
        this.clients.delete(client);
        client.close();
      } else client.enqueue(bytes);
    }
  }
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
