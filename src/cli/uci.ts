import { createInterface } from "node:readline";
import { resolvePlayer, runUci } from "#engine";
import { command } from "./command.js";
import { version } from "./version.js";

export default command({
  name: "uci",
  summary: "Run as a UCI engine, for any chess program.",
  details:
    "Without a player, the strongest one that comes with the program is used. Its options (Hash, Threads, MultiPV, EvalFile, UCI_Chess960, ...; those of\n" +
    "its search too) are set by the chess program. The commands d, eval and bench work too.",
  examples: ["tabiya uci", "tabiya uci net.nnue@ab", "tabiya uci runs/a@mcts:800", "tabiya uci runs/a@none"],
  arguments: { player: { help: "NET[@SEARCH[:NODES]]; nnue@ab by default", optional: true } },
  async run({ player: name = "nnue@ab" }, { print, signal }) {
    const player = await resolvePlayer(name);
    // Only now: lines that come before somebody waits for them would be lost.
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    signal.addEventListener("abort", () => lines.close());
    await runUci(lines, print, { version, player }).finally(() => player.close());
  },
});
