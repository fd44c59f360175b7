import { UserError } from "#base";
import { DECODER, readNetwork } from "#models";
import { THINK_OPTIONS, Think } from "#search";
import { DecoderWriter } from "./decoder-writer.js";
import { PLAYING_FAMILIES } from "./families.js";
import { readNetworkFile } from "./network-file.js";
import { EVALUATOR_OPTIONS } from "./network-options.js";
import type { SearchKind } from "./search-player.js";

const OPTIONS = { ...THINK_OPTIONS, ...EVALUATOR_OPTIONS };

/** Thinking as a player; the nodes of its name and of the limits are tokens. */
export const THINK: SearchKind<Think, typeof OPTIONS> = {
  options: OPTIONS,
  opening: ["threads"],
  async open(name, { threads, ...settings }) {
    const { bytes, path, family } = await readNetworkFile(name);
    if (!PLAYING_FAMILIES[family].searches.includes("think"))
      throw new UserError(
        "PLAYER_SEARCH",
        `${path}: only networks of the family decoder can think; this is one of ${family}.`,
      );
    const writer = await DecoderWriter.open(DECODER.own(readNetwork(bytes, path).network), threads || 1); // the runs are too small to share
    const search = new Think(writer, settings);
    return { search, evaluation: name, close: () => search.close() };
  },
  configure: (search, settings, seed) => search.configure(settings, seed),
};
