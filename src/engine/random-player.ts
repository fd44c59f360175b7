import { Random } from "#base";
import { formatUci, type Position } from "#chess";
import type { Choice, Player } from "./player.js";

/** Plays any legal move, each as likely as the others. The anchor at the bottom of every rating list. */
export class RandomPlayer implements Player {
  private random = new Random(1);

  constructor(readonly name = "random") {}

  async newGame({ seed = 1 }: { seed?: number } = {}): Promise<void> {
    this.random = new Random(seed);
  }

  async choose(position: Position): Promise<Choice> {
    const start = performance.now();
    const move = this.random.pick(position.moves());
    const variation = { pv: [formatUci(position, move)] };
    return { ...variation, move, timeMs: performance.now() - start, variations: [variation] };
  }

  async close(): Promise<void> {}
}
