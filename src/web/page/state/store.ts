/** Something that changes, and tells whoever listens. It has the shape of a Svelte store, so views read it as `$game`. */
export abstract class Store {
  private readonly listeners = new Set<(self: this) => void>();

  /** Calls the listener now and after every change, until what it returns is called. */
  subscribe(listener: (self: this) => void): () => void {
    this.listeners.add(listener);
    listener(this);
    return () => this.listeners.delete(listener);
  }

  protected changed(): void {
    for (const listener of [...this.listeners]) listener(this);
  }
}
