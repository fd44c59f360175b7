import { Random } from "#base";
import { formatUci, type Position } from "#chess";
import { type Limits, parseOptionValues } from "#search";
import type { Choice, Player } from "./player.js";

/** Plays any legal move, each as likely as the others. The anchor at the bottom of every rating list. */
export class RandomPlayer implements Player {
  readonly options = {};
  private random = new Random(1);

  constructor(readonly name = "random") {}

  async newGame({ seed = 1 }: { seed?: number } = {}): Promise<void> {
    this.random = new Random(seed);
  }

  async choose(position: Position, { moves }: Limits = {}): Promise<Choice> {
    const start = performance.now();
    const move = this.random.pick(moves ?? position.moves());
    return { move, lines: [{ pv: [formatUci(position, move)] }], timeMs: performance.now() - start };
  }

  async setOption(name: string, value: string): Promise<void> {
    parseOptionValues(`player "${this.name}"`, this.options, [[name, value]]);
  }

  async close(): Promise<void> {}
}
