import { UserError } from "#base";
import { askByJobs } from "#cluster";
import { writeVariations } from "#data";
import { resolvePlayer } from "#engine";
import { formatOf } from "#formats";
import { CLUSTER_OPTIONS, onCluster } from "../cluster.js";
import { command } from "../command.js";
import { ProgressBar, stopwatch } from "../progress.js";

export default command({
  name: "data variations",
  summary:
    "Analyse positions and keep the best moves with their values and variations: training data for decoders that think.",
  details:
    "Positions come from any file of records, or from a text file with one FEN per line (.epd, .fen, .txt). Answers are kept in\n" +
    "OUT.labels meanwhile: after Ctrl-C or a kill, run the same command to continue where it stopped.",
  examples: [
    "tabiya data variations positions.bin -o thoughts.parquet --player nnue@ab --nodes 20000 --multipv 3",
    "tabiya data variations positions.bin -o thoughts.parquet --player residual@mcts --nodes 400 --multipv 3",
  ],
  arguments: { file: { help: "positions" } },
  options: {
    out: { short: "o", help: "file to write, .parquet or .jsonl" },
    player: { help: "as nnue@ab or residual@mcts" },
    nodes: { type: "integer", minimum: 1, default: 10_000, help: "nodes for each position" },
    multipv: { type: "integer", minimum: 1, default: 3, help: "variations per position" },
    processes: { type: "integer", minimum: 1, default: 1, help: "players running in parallel" },
    ...CLUSTER_OPTIONS,
  },

  async run({ file, out, player, nodes, multipv, processes, cluster, store }, io) {
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o FILE");
    if (player === undefined)
      throw new UserError("OPTION_MISSING", "Say who is to look at the positions: --player nnue@ab");
    if (formatOf(out) !== "parquet" && formatOf(out) !== "jsonl")
      throw new UserError("FORMAT_OTHER", `${out}: variations fit into .parquet and .jsonl.`);
    const bar = new ProgressBar(io, "looked at");
    const seconds = stopwatch();
    const { positions, variations, failed } = await onCluster({ cluster, store }, io, async (transport) =>
      writeVariations(file, out, {
        create: () => resolvePlayer(player),
        player,
        limits: { nodes },
        multiPv: multipv,
        processes,
        elsewhere:
          transport &&
          (await askByJobs(transport, player, { nodes }, { kind: "variations", multiPv: multipv }, io.note)),
        signal: io.signal,
        onProgress: ({ done, total, labelled }) => bar.show(labelled, done, total),
        onTrouble: io.note,
      }),
    ).catch((error: unknown) => {
      if (io.signal.aborted) io.note("interrupted; run the same command to continue from here.");
      throw error;
    });
    const took = seconds();
    io.print(`${out}: ${variations} variations of ${positions} positions in ${took.toFixed(1)} s, ${failed} failed`);
    return { positions, variations, failed, seconds: took };
  },
});
