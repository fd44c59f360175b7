/** Lets so many work at the same time; the others wait for their turn. */
export class Slots {
  private readonly waiting: (() => void)[] = [];
  private users = 0;
  private onEmpty: (() => void) | undefined;

  constructor(private free: number) {}

  async use<T>(work: () => Promise<T>): Promise<T> {
    this.users++;
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free++;
      if (--this.users === 0) this.onEmpty?.();
    }
  }

  /** Resolves once nobody works or waits. */
  empty(): Promise<void> {
    return new Promise((resolve) => {
      if (this.users === 0) resolve();
      else this.onEmpty = resolve;
    });
  }
}
