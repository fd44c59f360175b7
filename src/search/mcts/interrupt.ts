/** Something that can end a wait: a signal, a timer, or `fire`. */
export class Interrupt {
  fired = false;
  private wake: (() => void) | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly listening: { signal: AbortSignal; listener: () => void }[] = [];

  readonly fire = (): void => {
    this.fired = true;
    this.wake?.();
  };

  /** Calls `listener` when the signal fires, or at once if it has. */
  on(signal: AbortSignal | undefined, listener: () => void): void {
    if (signal?.aborted) listener();
    else if (signal) {
      signal.addEventListener("abort", listener);
      this.listening.push({ signal, listener });
    }
  }

  fireAfter(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.fire, ms);
  }

  /** The value once it is there; undefined as soon as the interrupt fires. */
  async wait<T>(value: Promise<T>): Promise<T | undefined> {
    if (this.fired) return undefined;
    const interrupted = new Promise<undefined>((resolve) => {
      this.wake = () => resolve(undefined);
    });
    return Promise.race([value, interrupted]);
  }

  /** Hears nothing more. */
  close(): void {
    clearTimeout(this.timer);
    for (const { signal, listener } of this.listening) signal.removeEventListener("abort", listener);
  }
}
