// What jobs need of a machine, and what a machine has. Both are plain data that everybody can read, so that a worker which
// does not fit takes nothing, and says why.
import * as z from "zod";
import { parseFen } from "#chess";
import { createAlphaBeta, PLAYING_FAMILIES, parsePlayer, resolvePlayer, runBench } from "#engine";
import { sha256 } from "../stores/hash.js";
import { type Job, kindOf } from "./job.js";
import { engineOf, namedFile } from "./names.js";

export const JOBS_VERSION = 2; // grows whenever the same job would no longer be understood, or give the same bytes
const BENCH_DEPTH = 6; // a tenth of a second; more finds no more differences between versions
const SIGNED = { nodes: 2_000, deadlineMs: 30_000 };
const SIGNED_FENS = [
  "r1bq1rk1/pp2ppbp/5np1/n2p4/3P1B1P/1QN1PN2/PP3PP1/R3KB1R w KQ - 3 10",
  "8/pR6/2p5/5k2/1P1P3p/5K2/2n4P/8 w - - 1 40",
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
];

export const NEEDS_SCHEMA = z.object({
  version: z.int(),
  bench: z.int(), // signature of the search: the same number, the same program
  families: z.array(z.string()), // of networks
  engines: z.record(z.string(), z.string()), // signatures by name
  cores: z.int().min(1), // for one job
  crowd: z.int().min(1).max(1024), // jobs that a core does best at the same time
});

export type Needs = z.infer<typeof NEEDS_SCHEMA>;

/** "workers with residual, stockfish, 2 cores": what a person would want to know of them. */
export function describeNeeds({ families, engines, cores }: Needs): string {
  const parts = [...families, ...Object.keys(engines), ...(cores > 1 ? [`${cores} cores`] : [])];
  return parts.length === 0 ? "any worker" : `workers with ${parts.join(", ")}`;
}

/** What a machine can do. */
export interface Abilities {
  version: number;
  bench: number;
  families: readonly string[];
  engines: Readonly<Record<string, string>>;
  capacity: number; // cores it gives
}

/** Why a machine cannot do such jobs; undefined if it can. */
export function refuse(needs: Needs, has: Abilities): string | undefined {
  if (needs.version !== has.version)
    return `they are of version ${needs.version}, and this worker does version ${has.version}; run the same tabiya everywhere`;
  if (needs.bench !== has.bench)
    return `they are of a tabiya with bench ${needs.bench}, and this one has ${has.bench}; run the same tabiya everywhere`;
  const family = needs.families.find((name) => !has.families.includes(name));
  if (family !== undefined) return `networks of the family ${family} cannot be played here (see tabiya doctor)`;
  for (const [engine, signature] of Object.entries(needs.engines)) {
    const own = has.engines[engine];
    if (own === undefined) return `the engine ${engine} is not here (tabiya worker --engines ${engine})`;
    if (own !== signature)
      return `the engine ${engine} here thinks otherwise (signature ${own}, expected ${signature}); install the same version`;
  }
  if (needs.cores > has.capacity) return `a job takes ${needs.cores} cores, and this worker gives ${has.capacity}`;
  return undefined;
}

/** What a job needs; families are known by the hashes of networks, engines by their signatures. */
export function needsOf(
  job: Job,
  bench: number,
  families: ReadonlyMap<string, string>,
  engines: ReadonlyMap<string, string>,
): Needs {
  const players = kindOf(job).players(job);
  const needed = players.flatMap((text) => families.get(namedFile(text)?.hash ?? "") ?? []);
  const named = players.flatMap((text) => engineOf(text) ?? []);
  const cores = players.map((text) => {
    const { options } = parsePlayer(text);
    const threads = [...options].find(([name]) => name.toLowerCase() === "threads")?.[1];
    return Math.max(1, Number(threads) || 1);
  });
  return {
    version: JOBS_VERSION,
    bench,
    families: [...new Set(needed)].sort(),
    engines: Object.fromEntries([...new Set(named)].sort().map((name) => [name, engines.get(name) ?? ""])),
    cores: Math.max(...cores),
    crowd: kindOf(job).crowd(job),
  };
}

/** The number that tells whether two programs search alike. */
export async function benchSignature(): Promise<number> {
  const { search } = await createAlphaBeta("builtin");
  try {
    return (await runBench(search, BENCH_DEPTH)).signature;
  } finally {
    await search.close();
  }
}

/** The families of networks that can be played here. */
export const playableFamilies = (hasRuntime: boolean): string[] =>
  Object.entries(PLAYING_FAMILIES).flatMap(([family, { needsRuntime }]) => (hasRuntime || !needsRuntime ? family : []));

/** What an engine answers to a few questions, as a short hash: other versions answer otherwise. */
export async function engineSignature(command: string): Promise<string> {
  const player = await resolvePlayer(`uci:${command}`);
  try {
    const answers: unknown[] = [];
    for (const fen of SIGNED_FENS) {
      await player.newGame();
      const { move, nodes, lines } = await player.choose(parseFen(fen), SIGNED);
      answers.push([move, nodes, lines[0]?.scoreCp]);
    }
    return (await sha256(new TextEncoder().encode(JSON.stringify(answers)))).slice(0, 12);
  } finally {
    await player.close();
  }
}
