import { UserError } from "#base";
import { askByJobs } from "#cluster";
import { checkLabelOutput, labelPositions } from "#data";
import { resolvePlayer } from "#engine";
import { BAG_KINDS, type BagKind } from "#formats";
import { CLUSTER_OPTIONS, onCluster } from "../cluster.js";
import { command } from "../command.js";
import { ProgressBar, stopwatch } from "../progress.js";

const TROUBLE_SHOWN = 10; // messages about engines that failed; the rest is counted

export default command({
  name: "data label",
  summary: "Label positions with the scores of a UCI engine, running several processes.",
  details:
    "Positions come from any file of records, or from a text file with one FEN per line (.epd, .fen, .txt). Labels are kept in\n" +
    "OUT.labels meanwhile: after Ctrl-C or a kill, run the same command to continue where it stopped.\n" +
    "With --multipv all, every legal move gets a score: {fen, moves: {uci: centipawns or #n}}. Otherwise records have the\n" +
    "engine's move and score, and the result of the input, or 0.",
  examples: [
    "tabiya data label positions.jsonl -o labelled.bin --engine stockfish --nodes 5000 --processes 2",
    "tabiya data label positions.bin -o labelled.bin --engine stockfish --nodes 5000 --cluster redis://localhost:6379",
    'tabiya data label a.bin -o moves.jsonl --engine "stockfish?Hash=16" --depth 8 --multipv all',
  ],
  arguments: { file: { help: "positions" } },
  options: {
    out: { short: "o", help: "file to write" },
    engine: {
      help: "command of the engine, with options as in uci: players: stockfish?Hash=16; or a player, as nnue@ab",
    },
    depth: { type: "integer", minimum: 1, help: "search depth for each position, in plies" },
    nodes: { type: "integer", minimum: 1, help: "nodes for each position" },
    multipv: { choices: ["1", "all"], default: "1", help: "score the position only, or all its moves" },
    processes: { type: "integer", minimum: 1, default: 1, help: "engines running in parallel" },
    timeout: {
      type: "number",
      minimum: 0,
      default: 60,
      help: "seconds per position, after which the engine is killed",
    },
    kind: { choices: BAG_KINDS, help: "kind of the records, for .bag and .bagz" },
    ...CLUSTER_OPTIONS,
  },

  async run({ file, out, engine, depth, nodes, multipv, processes, timeout, kind: kindText, cluster, store }, io) {
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o FILE");
    if (engine === undefined) throw new UserError("OPTION_MISSING", "Say which engine: --engine stockfish");
    if (depth === undefined && nodes === undefined) {
      throw new UserError("OPTION_MISSING", "How long may the engine think? Give --nodes 5000 or --depth 10.");
    }
    const allMoves = multipv === "all";
    const kind = kindText as BagKind | undefined;
    checkLabelOutput(out, allMoves, kind);
    const player = /^uci:|@/.test(engine) ? engine : `uci:${engine}`;
    const bar = new ProgressBar(io, "labelled");
    const seconds = stopwatch();
    let troubles = 0;
    const onTrouble = (message: string) => {
      if (++troubles <= TROUBLE_SHOWN) io.note(message);
      else if (troubles === TROUBLE_SHOWN + 1) io.note("(further trouble is only counted)");
    };
    const limits = { depth, nodes, deadlineMs: timeout * 1000 };
    const result = await onCluster({ cluster, store }, io, async (transport) =>
      labelPositions(file, out, {
        create: () => resolvePlayer(player),
        engine: player,
        limits,
        allMoves,
        kind,
        processes,
        elsewhere: transport && (await askByJobs(transport, player, limits, { kind: "label", allMoves }, onTrouble)),
        signal: io.signal,
        onProgress: ({ done, total, labelled }) => bar.show(labelled, done, total),
        onTrouble,
      }),
    ).catch((error: unknown) => {
      if (io.signal.aborted) io.note("interrupted; run the same command to continue from here.");
      throw error;
    });
    const took = seconds();
    const { positions, labelled, cached, failed, over, written } = result;
    io.print(
      `${out}: ${written} records; ${labelled} of ${positions} positions labelled in ${took.toFixed(1)} s, ${cached} known before, ${failed} failed, ${over} where the game is over`,
    );
    return { ...result, seconds: took };
  },
});
