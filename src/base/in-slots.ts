/**
 * Works on items, so many at the same time, in their order. If one fails or the signal fires, the others are told to stop and
 * no more are begun; it rejects when all have ended.
 */
export async function workInSlots<T>(
  items: Iterable<T>,
  { slots, signal }: { slots: number; signal: AbortSignal },
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  // A controller for each slot: thousands of items would listen to one signal.
  const stops = Array.from({ length: slots }, () => new AbortController());
  const stopAll = (reason: unknown) => {
    for (const stop of stops) stop.abort(reason);
  };
  const relay = () => stopAll(signal.reason);
  if (signal.aborted) relay();
  signal.addEventListener("abort", relay, { once: true });
  const waiting = items[Symbol.iterator]();
  let failure: { reason: unknown } | undefined;
  await Promise.all(
    stops.map(async (stop) => {
      try {
        for (let next = waiting.next(); !next.done && !stop.signal.aborted; next = waiting.next())
          await work(next.value, stop.signal);
      } catch (reason) {
        failure ??= { reason };
        stopAll(reason);
      }
    }),
  );
  signal.removeEventListener("abort", relay);
  signal.throwIfAborted();
  if (failure) throw failure.reason;
}
