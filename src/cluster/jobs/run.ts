import { openSelfPlayer, type SelfPlayer } from "#data";
import { type Job, type NamedNetwork, namedNetwork, renameNetwork } from "./job.js";
import { Slots } from "./slots.js";

interface Table {
  player: SelfPlayer;
  slots: Slots; // as many games at once as the player likes
}

/** Players that jobs have in common: a network is loaded once, and its batches are filled by all of them together. */
export class JobRunner {
  private readonly players = new Map<string, Promise<Table>>();

  constructor(
    private readonly options: {
      network(name: NamedNetwork): string; // the path of a network
      threads: number; // for each network to compute with; 0: one per core
    },
  ) {}

  /** Does a job; the bytes are its result. */
  async run(job: Job, signal: AbortSignal): Promise<Uint8Array> {
    const { player, slots } = await this.tableOf(job);
    const lines: string[] = [];
    for (const game of job.games) lines.push(`${JSON.stringify(await slots.use(() => player.play(game, signal)))}\n`);
    return new TextEncoder().encode(lines.join(""));
  }

  private tableOf({ spec }: Job): Promise<Table> {
    const { games: _, ...rest } = spec;
    const key = JSON.stringify(rest);
    const known = this.players.get(key);
    if (known) return known;
    const opened = this.open(spec);
    this.players.set(key, opened);
    opened.catch(() => this.players.delete(key)); // the next job tries again
    return opened;
  }

  private async open(spec: Job["spec"]): Promise<Table> {
    const named = namedNetwork(spec.player);
    const player = named ? renameNetwork(spec.player, this.options.network(named)) : spec.player;
    const opened = await openSelfPlayer({ ...spec, player }, { threads: this.options.threads });
    return { player: opened, slots: new Slots(opened.concurrency) };
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.players.values());
    for (const table of opened) if (table.status === "fulfilled") await table.value.player.close();
  }
}
