import { existsSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { findProgram } from "#base";
import { parseFen, perft, START_FEN } from "#chess";
import { command } from "./command.js";
import { packageFile } from "./package-file.js";

interface Finding {
  name: string;
  found: string | null; // version or path; null if missing
  use: string; // what it is for, or what is lost without it
  install?: string; // how to get it
}

/** Programs that are used when they are there. */
const PROGRAMS = [
  {
    name: "stockfish",
    use: "labels, sparring, benchmarks",
    install: "apt-get install stockfish, brew install stockfish",
  },
  { name: "zstd", use: "reads .zst files fastest and writes them", install: "apt-get install zstd, brew install zstd" },
  { name: "chromium", use: "the browser tests", install: "apt-get install chromium" },
];

async function packageVersion(name: string): Promise<string | null> {
  try {
    const found = await import(`${name}/package.json`, { with: { type: "json" } });
    return found.default.version;
  } catch {
    return null;
  }
}

async function examine(): Promise<Finding[]> {
  const [major] = process.versions.node.split(".").map(Number);
  const findings: Finding[] = [
    {
      name: "node",
      found: major >= 20 ? process.version : null,
      use: "runs everything",
      install: "Node 20 or newer from nodejs.org",
    },
    {
      name: "chess core",
      found: perft(parseFen(START_FEN), 3) === 8902 ? "wasm, SIMD" : null,
      use: "the rules of chess",
      install: "npm run build",
    },
    {
      name: "onnxruntime-node",
      found: await packageVersion("onnxruntime-node"),
      use: "trains and runs networks other than NNUE",
      install: "npm install onnxruntime-node",
    },
  ];
  for (const program of PROGRAMS) findings.push({ ...program, found: (await findProgram(program.name)) ?? null });
  return findings;
}

export default command({
  name: "doctor",
  summary: "Show what is installed, what is missing, and how to get it.",
  examples: ["tabiya doctor", "tabiya doctor --json"],
  async run(_, { print }) {
    const findings = await examine();
    for (const { name, found, use, install } of findings) {
      print(`${found === null ? "-" : "+"} ${name.padEnd(17)} ${found ?? `missing: ${use}. Get it: ${install}`}`);
    }
    const cores = availableParallelism();
    const memoryGb = Math.round(totalmem() / 2 ** 30);
    print(`  ${cores} cores, ${memoryGb} GB of memory`);
    const built = existsSync(packageFile("dist/wasm/chess-shared.wasm"));
    print(built ? "Everything needed is here." : "The build is incomplete. Run: npm run build");
    return { ok: built, cores, memoryGb, findings };
  },
});
