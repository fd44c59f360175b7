import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { UserError } from "#base";
import { parsePlayer, runUci } from "#engine";
import { command } from "./command.js";

export default command({
  name: "uci",
  summary: "Be an engine for any chess program that speaks UCI.",
  details:
    "Without a player it is the strongest one shipped. Options (Hash, Threads, MultiPV, EvalFile, UCI_Chess960, ...) are set by " +
    "the chess program. Understands also d, eval and bench.",
  examples: ["tabiya uci", "tabiya uci net.nnue@ab", "tabiya uci builtin@ab:10000"],
  arguments: { player: { help: "NET@ab[:NODES]", optional: true } },
  async run({ player = "nnue@ab" }, { print, signal }) {
    const spec = parsePlayer(player);
    if (spec.kind !== "network" || (spec.search ?? "ab") !== "ab") {
      throw new UserError(
        "UCI_PLAYER",
        `tabiya uci cannot be "${player}": only networks with the alpha-beta search speak UCI so far, as net.nnue@ab.`,
      );
    }
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    signal.addEventListener("abort", () => lines.close());
    await runUci(lines, print, { version, network: spec.network, nodes: spec.nodes });
  },
});
