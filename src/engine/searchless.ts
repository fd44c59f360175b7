import { UserError } from "#base";
import { type FamilyName, findWeights, loadNetwork, type Moe, type Residual } from "#models";
import { ActionPlayer } from "./action-player.js";
import { NetworkPlayer } from "./network-player.js";
import type { Player } from "./player.js";

interface Kind {
  options: readonly string[]; // that can be set behind a question mark
  open(name: string, network: never, options: Record<string, number>): Promise<Player>;
}

/** How a network of each family plays without a search. */
const KINDS: Record<FamilyName, Kind> = {
  residual: { options: [], open: (name, network: Residual) => NetworkPlayer.open(name, network) },
  moe: { options: ["temperature"], open: (name, network: Moe, options) => ActionPlayer.open(name, network, options) },
  nnue: {
    options: [],
    open(name) {
      throw new UserError(
        "PLAYER_SEARCH",
        `player "${name}": networks of the family nnue value positions and know no moves; write @ab instead of @none.`,
      );
    },
  },
};

/** Loads a run, a checkpoint folder or a file of weights as a player that does not search. */
export async function loadSearchless(
  name: string,
  path: string,
  options: ReadonlyMap<string, string> = new Map(),
): Promise<Player> {
  const { family, network } = await loadNetwork(await findWeights(path));
  const kind = KINDS[family];
  const settings: Record<string, number> = {};
  for (const [option, text] of options) {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (!kind.options.includes(option) || !(value >= 0)) {
      throw new UserError(
        "PLAYER_OPTION",
        `player "${name}": ${option}=${text} is nothing that ${family} understands here.\n` +
          `It understands: ${kind.options.map((known) => `${known}=NUMBER`).join(", ") || "nothing"}.`,
      );
    }
    settings[option] = value;
  }
  return kind.open(name, network as never, settings);
}
