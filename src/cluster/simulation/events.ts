/** Things that happen in time, the earliest first; those at the same time in the order they were planned. */
export class Timeline {
  private readonly heap: { at: number; order: number; happen: () => void }[] = [];
  private order = 0;
  now = 0; // seconds

  plan(at: number, happen: () => void): void {
    const { heap } = this;
    const event = { at, order: this.order++, happen };
    let i = heap.length;
    heap.push(event);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!isBefore(event, heap[parent])) break;
      heap[i] = heap[parent];
      i = parent;
    }
    heap[i] = event;
  }

  /** Lets everything happen until a time; what is planned for later stays. */
  runUntil(end: number): void {
    const { heap } = this;
    while (heap.length > 0 && heap[0].at <= end) {
      const { at, happen } = heap[0];
      const last = heap.pop()!;
      if (heap.length > 0) this.sink(last);
      this.now = at;
      happen();
    }
    this.now = end;
  }

  private sink(event: { at: number; order: number; happen: () => void }): void {
    const { heap } = this;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++;
      if (!isBefore(heap[child], event)) break;
      heap[i] = heap[child];
      i = child;
    }
    heap[i] = event;
  }
}

const isBefore = (a: { at: number; order: number }, b: { at: number; order: number }): boolean =>
  a.at < b.at || (a.at === b.at && a.order < b.order);

/** Serves one after another, in the order they come: a processor, or a cable. */
export class Server {
  private freeAt = 0;
  private busySince = 0; // seconds of service that were begun
  private waited = 0;
  private served = 0;

  constructor(private readonly timeline: Timeline) {}

  serve(seconds: number, then: () => void): void {
    const { now } = this.timeline;
    const begins = Math.max(now, this.freeAt);
    this.waited += begins - now;
    this.served++;
    this.busySince += seconds;
    this.freeAt = begins + seconds;
    this.timeline.plan(this.freeAt, then);
  }

  /** Mean seconds in the queue, service not counted. */
  get meanWait(): number {
    return this.served === 0 ? 0 : this.waited / this.served;
  }

  /** Seconds of service up to now. */
  get busySeconds(): number {
    return this.busySince - Math.max(0, this.freeAt - this.timeline.now);
  }
}
