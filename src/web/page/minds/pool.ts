import type { Mind } from "./mind.js";

/** One mind for each purpose ("white", "analysis 2"), exchanged when the purpose wants another player. */
export class MindPool {
  private readonly minds = new Map<string, { player: string; mind: Promise<Mind> }>();

  constructor(private readonly open: (player: string) => Promise<Mind>) {}

  /** The mind for a purpose; loads the player if it is not there yet. */
  get(purpose: string, player: string): Promise<Mind> {
    const known = this.minds.get(purpose);
    if (known?.player === player) return known.mind;
    this.close(purpose);
    const mind = this.open(player);
    this.minds.set(purpose, { player, mind });
    // A player that could not be loaded is tried again when it is asked for again.
    mind.catch(() => {
      if (this.minds.get(purpose)?.mind === mind) this.minds.delete(purpose);
    });
    return mind;
  }

  close(purpose: string): void {
    const known = this.minds.get(purpose);
    this.minds.delete(purpose);
    known?.mind.then((mind) => mind.close()).catch(() => {});
  }
}
