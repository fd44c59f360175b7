import { suggestion, UserError } from "#base";
import { ASSUMPTIONS, type Assumptions, LIMITS, MEANINGS, type Scale, saturation, simulate } from "#cluster";
import { command } from "./command.js";
import { formatCount } from "./progress.js";

const NAMES = Object.keys(ASSUMPTIONS) as (keyof Assumptions)[];

const percent = (share: number): string =>
  share < 0.0005 ? "0 %" : `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;

/** The table, column by column. */
const COLUMNS: Record<string, (scale: Scale) => string> = {
  workers: ({ workers }) => String(workers),
  "positions/s": ({ positionsPerSecond }) => formatCount(positionsPerSecond),
  efficiency: ({ efficiency }) => percent(efficiency),
  "$/M": ({ dollarsPerMillion }) => dollarsPerMillion.toFixed(2),
  Redis: ({ redisBusy }) => percent(redisBusy),
  network: ({ linkBusy }) => percent(linkBusy),
  command: ({ commandBusy }) => percent(commandBusy),
  "wait ms": ({ dispatchMs }) => dispatchMs.toFixed(dispatchMs < 10 ? 2 : 0),
  "Redis MB": ({ redisMegabytes }) => redisMegabytes.toFixed(redisMegabytes < 10 ? 1 : 0),
  "new net s": ({ networkSeconds }) => networkSeconds.toFixed(networkSeconds < 10 ? 1 : 0),
  stale: ({ staleShare }) => percent(staleShare),
  idle: ({ idleShare }) => percent(idleShare),
  "SPRT s": ({ sprtSeconds }) => sprtSeconds.toFixed(0),
  wasted: ({ sprtWaste }) => percent(sprtWaste),
  limit: ({ limit }) => limit,
};

export default command({
  name: "cluster simulate",
  summary: "Simulate clusters of many workers: throughput, cost, and where they stop getting faster.",
  details:
    "A discrete-event simulation fed with measured costs, which it prints: cores, one Redis, one network, one command that collects.\n" +
    "redis, network and command are the shares of the time in which each is busy; $/M the cost of a million positions; stale the\n" +
    "share of a generation that an older network plays if workers play on during training, idle their idle time if they wait;\n" +
    "wasted the games of an SPRT that were under way when it was decided. docs/log/cluster.md discusses the numbers.",
  examples: [
    "tabiya cluster simulate",
    "tabiya cluster simulate --workers 50 500 --set jobSeconds=180 positionsPerJob=1840 resultBytes=854000",
    "tabiya cluster simulate --set windowJobs=0 storeInRedis=1 --json",
  ],
  options: {
    workers: { type: "strings", default: ["1", "10", "100", "1000", "10000"], help: "numbers of workers" },
    set: { type: "strings", help: "assumptions instead of the measured ones, as jobSeconds=120" },
    seed: { type: "integer", default: 1, help: "random seed of the lengths of jobs" },
  },

  run({ workers, set, seed }, io) {
    const assumptions = { ...ASSUMPTIONS, ...Object.assign({}, ...(set ?? []).map(parseAssumption)) } as Assumptions;
    const counts = workers.flatMap((text) => text.split(",")).map(parseWorkers);
    io.print("Assumptions (change them with --set):");
    for (const name of NAMES)
      io.print(`  ${name.padEnd(20)} ${String(assumptions[name]).padStart(9)}  ${MEANINGS[name]}`);
    io.print(`  ${"seed".padEnd(20)} ${String(seed).padStart(9)}\n`);
    const scales: Scale[] = [];
    const widths = Object.keys(COLUMNS).map((name) => Math.max(name.length, 7));
    const row = (cells: string[]) => io.print(cells.map((cell, i) => cell.padStart(widths[i])).join("  "));
    row(Object.keys(COLUMNS));
    for (const count of counts) {
      const scale = simulate(count, assumptions, seed);
      scales.push(scale);
      row(Object.values(COLUMNS).map((cell) => cell(scale)));
    }
    const limits = saturation(assumptions);
    io.print("\nEach would be full with so many workers, and what moves it:");
    for (const [name, at] of Object.entries(limits).sort(([, a], [, b]) => a - b))
      io.print(`  ${Number.isFinite(at) ? formatCount(at) : "none"}`.padEnd(12) + LIMITS[name as keyof typeof limits]);
    io.print("And what no server limits:");
    io.print("  stale, idle  larger generations as the cluster grows, or training in rounds on several machines");
    io.print("  wasted       fewer games a job when a test is near its end, or several tests at the same time");
    return { assumptions, seed, scales, saturation: limits };
  },
});

function parseAssumption(text: string): Partial<Assumptions> {
  const [name, value = ""] = text.split("=");
  if (!NAMES.includes(name as keyof Assumptions))
    throw new UserError("ASSUMPTION", `--set ${text}: there is no assumption "${name}".${suggestion(name, NAMES)}`);
  const number = Number(value);
  const least = ["coresPerWorker", "jobSeconds", "linkMegabits", "positionsPerJob"].includes(name) ? 1e-6 : 0;
  if (value === "" || !(number >= least) || !Number.isFinite(number))
    throw new UserError("ASSUMPTION", `--set ${text}: expected a number ${least > 0 ? "above 0" : "of 0 or more"}, as ${name}=${ASSUMPTIONS[name as keyof Assumptions]}.`); // biome-ignore format: a sentence
  return { [name]: number };
}

function parseWorkers(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 100_000)
    throw new UserError("WORKERS", `--workers ${text}: expected whole numbers of 1 to 100000, as 10 100.`);
  return count;
}
