import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = fileURLToPath(new URL("./src/", import.meta.url));

export default defineConfig({
  resolve: {
    // The doors of package.json lead to dist/; tests read the sources instead, so that a test never runs stale code.
    alias: [
      { find: /^#platform$/, replacement: `${source}base/node.ts` },
      { find: /^#runtime$/, replacement: `${source}base/node-runtime.ts` },
      { find: /^#([a-z]+)$/, replacement: `${source}$1/index.ts` },
    ],
  },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 300_000, // for a machine busy with other tests
    hookTimeout: 300_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
