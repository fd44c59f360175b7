import type { Report } from "./player.js";

/** The `info` lines by which a chess program hears what a player thinks. */
export function formatInfos({ lines, depth = 1, nodes, timeMs, hashFull }: Report, showWdl: boolean): string[] {
  return lines.map((line, i) => {
    const { scoreCp, mate, pv } = line;
    const words: (string | number)[] = ["info depth", line.depth ?? depth, "seldepth", line.selDepth ?? depth];
    words.push("multipv", i + 1);
    if (mate !== undefined) words.push("score mate", mate);
    else if (scoreCp !== undefined) words.push("score cp", scoreCp);
    if (showWdl && line.wdl) words.push("wdl", ...line.wdl);
    if (nodes !== undefined) words.push("nodes", nodes, "nps", Math.round(nodes / Math.max(timeMs, 1)) * 1000);
    if (hashFull !== undefined) words.push("hashfull", hashFull, "tbhits 0");
    return [...words, "time", Math.round(timeMs), "pv", ...pv].join(" ");
  });
}
