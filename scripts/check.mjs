// What must hold before tests are worth running: types, style, and no dead code.
import { spawnSync } from "node:child_process";

const checks = [
  ["types", "node_modules/typescript/bin/tsc", "-p", "tsconfig.test.json"],
  [
    "types of the page",
    "node_modules/svelte-check/bin/svelte-check",
    "--tsconfig",
    "src/web/page/tsconfig.json",
    "--output",
    "human",
    "--threshold",
    "error",
  ],
  ["style", "node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings"],
  ["dead code", "node_modules/knip/bin/knip.js", "--no-progress"],
];
for (const [name, script, ...args] of checks) {
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: "inherit" });
  if (status === 0) continue;
  console.error(`\nThe ${name} check found the above. (Style is mended by: npm run format)`);
  process.exit(1);
}
