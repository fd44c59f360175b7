import { openWorker } from "#base";
import { Mind } from "./mind.js";

/** Loads a player into a worker of its own. */
export const openMind = (player: string): Promise<Mind> =>
  Mind.open(player, () => openWorker("web/page/minds/mind-worker"));
