import { UserError, writeFile } from "#base";
import { formatReport, judgeCheckpoint, judgePositions, type ReportedRun, type RunFacts, readRuns } from "#web";
import { command, type Io } from "./command.js";
import { nameRuns } from "./compare.js";
import { version } from "./version.js";

const BOARDS = 12; // of each kind, for each run

/** `count` of a list, evenly spread. */
const spread = <T>(list: readonly T[], count: number): T[] => {
  const step = Math.max(1, Math.floor(list.length / count));
  return list.filter((_, i) => i % step === 0).slice(0, count);
};

/** Judges the best checkpoint of a run, if it has one and its data is still there. */
async function judge(facts: RunFacts, name: string, limit: number, io: Io): Promise<ReportedRun> {
  const run: ReportedRun = { ...facts, name };
  const { signal } = io;
  try {
    io.progress(`${name}: evaluating its best checkpoint ...`);
    run.judged = await judgeCheckpoint(facts, facts.path, { limit, signal });
    io.progress(`${name}: looking for its worst mistakes ...`);
    const options = { sample: Math.min(400, limit), signal };
    const { positions, ...rest } = await judgePositions(facts, facts.path, options);
    const [worst, others] = [positions.slice(0, BOARDS), positions.slice(BOARDS)];
    run.positions = { ...rest, sampled: positions.length, worst, some: spread(others, BOARDS) };
  } catch (error) {
    if (!(error instanceof UserError) || signal.aborted) throw error;
    run.trouble = error.message;
    io.note(`${name}: not evaluated: ${error.message}`);
  }
  return run;
}

export default command({
  name: "report",
  summary: "Write a page about training runs to one HTML file, to send to a colleague.",
  details:
    "The file needs nothing but a browser: curves, settings, calibration, the positions each network is most wrong about,\n" +
    "and some random ones. The best checkpoint is evaluated again for it, on the run's validation files.",
  examples: ["tabiya report runs/a -o a.html", "tabiya report runs/a runs/b -o report.html --positions 10000"],
  arguments: { runs: { type: "strings", help: "folders of runs, or folders that hold runs" } },
  options: {
    out: { short: "o", help: "file to write" },
    positions: { type: "integer", default: 4000, minimum: 1, help: "how many positions to evaluate" },
    title: { help: "heading of the page" },
  },

  async run({ runs: paths, out, positions, title }, io) {
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o report.html");
    const facts = await readRuns(paths);
    const names = nameRuns(facts.map(({ path }) => path));
    const runs: ReportedRun[] = [];
    for (const [i, each] of facts.entries()) runs.push(await judge(each, names[i], positions, io));
    const heading = title ?? `Training of ${names.length > 3 ? `${names.length} networks` : names.join(", ")}`;
    const html = formatReport(runs, { title: heading, date: new Date(), version });
    await writeFile(out, html);
    io.print(`${out}: ${runs.length === 1 ? "a run" : `${runs.length} runs`}, ${Math.ceil(html.length / 1000)} kB`);
    return { out, bytes: Buffer.byteLength(html), runs: runs.map(({ path, trouble = null }) => ({ path, trouble })) };
  },
});
