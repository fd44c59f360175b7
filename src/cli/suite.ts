import { examine, parseTask, type SuiteTask, shareInterval, solveTask } from "#arena";
import { openBytes, readLines, UserError } from "#base";
import { examineByJobs } from "#cluster";
import { type PlayerFault, resolvePlayer } from "#engine";
import { refuseOther } from "#formats";
import { withTransport } from "./cluster.js";
import { command } from "./command.js";
import { readLimits, SPREAD_OPTIONS } from "./thinking.js";

export default command({
  name: "suite",
  summary: "Run a test suite: find the best moves of an EPD file (bm, am, or STS points).",
  examples: [
    "tabiya suite uci:stockfish wac.epd --nodes 10000",
    "tabiya suite nnue@ab STS1-STS15_LAN_v3.epd --movetime 100 --json",
  ],
  arguments: {
    player: { help: "NET[@SEARCH[:NODES]], random, or uci:COMMAND?Option=Value&..." },
    epd: { help: "file with one position per line" },
  },
  options: {
    limit: { type: "integer", minimum: 1, help: "use only the first N" },
    failed: { type: "boolean", help: "list the positions that were not solved" },
    ...SPREAD_OPTIONS,
  },

  async run({ player, epd, limit = Infinity, failed, concurrency, cluster, store, ...rest }, io) {
    const limits = readLimits(player, rest);
    await refuseOther(epd, ["epd", "zip"], "one position (EPD) a line");
    const tasks: { task: SuiteTask; line: string }[] = [];
    let number = 0;
    for await (const line of readLines(await openBytes(epd), epd)) {
      number++;
      if (line.trim() !== "" && !line.startsWith("#") && tasks.length < limit) {
        tasks.push({ task: parseTask(line, `${epd}, line ${number}`), line });
      }
    }
    if (tasks.length === 0) throw new UserError("EPD_EMPTY", `${epd}: no position in it.`);

    const result = { solved: 0, points: 0, total: 0, maxPoints: 0 };
    const missed: string[] = [];
    let faults = 0;
    const start = performance.now();
    type Answer = Awaited<ReturnType<typeof solveTask>>;
    const onAnswer = ({ task }: (typeof tasks)[number], answer: Answer | undefined, fault: PlayerFault | undefined) => {
      if (fault) {
        faults++;
        io.note(`${task.id}: ${fault.message}`);
      }
      result.total++;
      result.maxPoints += task.maxPoints;
      result.points += answer?.points ?? 0;
      if (answer?.solved) result.solved++;
      else missed.push(task.id);
      io.progress(`${result.total}/${tasks.length} positions, ${result.solved} solved`);
    };
    const { signal } = io;
    if (cluster === undefined)
      await examine({
        questions: tasks,
        create: () => resolvePlayer(player, { steady: true }),
        ask: (solver, { task }) => solveTask(solver, task, limits),
        onAnswer,
        concurrency,
        signal,
      });
    else {
      const format = ({ line }: (typeof tasks)[number]) => line.trim();
      const exam = { kind: "suite" as const, player, limits, questions: tasks, format, signal };
      await withTransport({ cluster, store }, io, (transport) => examineByJobs(transport, exam, onAnswer));
    }
    const { low, high } = shareInterval(result.solved, result.total);
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
    io.print(
      `solved ${result.solved} of ${result.total}: ${percent(result.solved / result.total)} ` +
        `(95 % interval ${percent(low)} .. ${percent(high)}); points ${result.points} of ${result.maxPoints}`,
    );
    missed.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    if (failed) io.print(`not solved: ${missed.join(", ") || "none"}`);
    return { ...result, missed, faults, seconds: (performance.now() - start) / 1000 };
  },
});
