import { openWorker } from "#base";
import type { Description } from "./describe.js";
import { Mind } from "./mind.js";

const startMind = () => openWorker("web/page/minds/mind-worker");

/** Loads a player into a worker of its own. */
export const openMind = (player: string): Promise<Mind> => Mind.open(player, startMind);

/** What a file of weights says of itself. */
export const describeAddress = (address: string): Promise<Description> => Mind.describe(address, startMind);
