import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { UserError } from "#base";
import { parsePlayer, resolvePlayer, runUci, runUciSearchless } from "#engine";
import { command } from "./command.js";

export default command({
  name: "uci",
  summary: "Be an engine for any chess program that speaks UCI.",
  details:
    "Without a player it is the strongest one shipped. Options (Hash, Threads, MultiPV, EvalFile, UCI_Chess960, ...) are set by " +
    "the chess program. Understands also d, eval and bench.",
  examples: ["tabiya uci", "tabiya uci net.nnue@ab", "tabiya uci builtin@ab:10000", "tabiya uci runs/a@none"],
  arguments: { player: { help: "NET@ab[:NODES], or NET@none to play without a search", optional: true } },
  async run({ player = "nnue@ab" }, { print, signal }) {
    const spec = parsePlayer(player);
    if (spec.kind !== "network" || !["ab", "none"].includes(spec.search ?? "ab")) {
      throw new UserError(
        "UCI_PLAYER",
        `tabiya uci cannot be "${player}": it can be a network with the alpha-beta search, as net.nnue@ab, or without any, as runs/a@none.`,
      );
    }
    const opened = spec.search === "none" ? await resolvePlayer(player) : undefined; // before anything is heard
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    signal.addEventListener("abort", () => lines.close());
    if (opened) await runUciSearchless(lines, print, { version, player: opened }).finally(() => opened.close());
    else await runUci(lines, print, { version, network: spec.network, nodes: spec.nodes });
  },
});
