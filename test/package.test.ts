// Packs for real and installs in an empty folder, as a user would: needs the registry of npm.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, test } from "vitest";
import { BUNDLERS, checkBundle, writeExample } from "./browser/bundlers.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-package-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const windows = process.platform === "win32";
const npm = (cwd: string, ...args: string[]) =>
  spawnSync(windows ? "npm.cmd" : "npm", args, { cwd, encoding: "utf8", shell: windows });

const { status, stdout } = npm(process.cwd(), "pack", "--json", "--pack-destination", folder);
const [packed] = status === 0 ? (JSON.parse(stdout) as { filename: string; files: { path: string }[] }[]) : [];
writeFileSync(join(folder, "package.json"), '{ "name": "guest", "private": true, "type": "module" }\n');
const installed = npm(
  folder,
  "install",
  "--no-audit",
  "--no-fund",
  "--prefer-offline",
  join(folder, `${packed?.filename}`),
);
const online = installed.status === 0 || !/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENOTCACHED/.test(installed.stderr);

test("the tarball holds what users need and no litter", () => {
  const paths = packed.files.map(({ path }) => path);
  for (const path of ["dist/cli/main.js", "dist/wasm/chess.wasm", "recipes/nnue-tiny.yaml", "nets/manifest.json", "games/lichess.pgn.gz", "docs/recipes.md", "LICENSE"]) // biome-ignore format: a list
    assert.ok(paths.includes(path), path);
  // The server has the networks from nets/; a copy of them is for pages on other hosts, which are built in a clone.
  const litter = paths.filter((path) => /\.map$|stamp|tsbuildinfo|testing|\.test\.|page\/nets/.test(path));
  assert.deepEqual(litter, []);
});

test.skipIf(!online)("it installs from the registry alone, without a warning and without the large runtimes", () => {
  assert.equal(installed.status, 0, installed.stderr);
  // What the user's own npm says of the user's own settings is not about us.
  const warnings = installed.stderr
    .split("\n")
    .filter((line) => /warn/i.test(line) && !/Unknown (user|env) config/.test(line));
  assert.deepEqual(warnings, []);
  const names = readdirSync(join(folder, "node_modules"));
  for (const name of ["onnxruntime-node", "onnxruntime-web", "bullmq", "ioredis"])
    assert.ok(!names.includes(name), name);
});

/** As people call it: `npx tabiya`, without asking the registry. */
const tabiya = (...args: string[]) => npm(folder, "exec", "--offline", "--", "tabiya", ...args);

test.skipIf(!online)("the tour, the training tour and the recipes work in an empty folder", () => {
  const tour = tabiya("tour", "--fast");
  assert.equal(tour.status, 0, tour.stderr);
  assert.match(tour.stdout, /checkmate, white wins/);
  assert.match(tour.stdout, /npm install onnxruntime-node/);
  const trained = tabiya("tour", "--train", "--json");
  assert.equal(trained.status, 0, trained.stderr);
  assert.ok(JSON.parse(trained.stdout).match.wins >= 8, trained.stdout);
  assert.ok(existsSync(join(folder, "runs/tour/best/model.safetensors")));
});

for (const [name, bundle] of Object.entries(BUNDLERS))
  test.skipIf(!online)(`${name} makes the page of docs/browser.md from what is installed, and it runs`, async () => {
    const home = join(folder, name); // below the installed package
    mkdirSync(home);
    writeExample(home);
    await checkBundle(await bundle(home));
  });

const PROGRAM = `import { parseFen, perft, START_FEN, type Position } from "tabiya/chess";
import { parseGames } from "tabiya/formats";
import { resolvePlayer } from "tabiya/engine";
import { listSettings } from "tabiya/training";

const position: Position = parseFen(START_FEN);
const [game] = parseGames("1. e4 e5 *");
const player = await resolvePlayer("nnue@ab:1000");
const { move } = await player.choose(position, {});
await player.close();
console.log(perft(position, 3), game.moves.length, position.isLegal(move), listSettings("nnue").length > 10);
`;

test.skipIf(!online)("four doors are typed under nodenext and bundler, and run", () => {
  writeFileSync(join(folder, "program.ts"), PROGRAM);
  const tsc = resolve("node_modules/typescript/bin/tsc");
  for (const [module, resolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ]) {
    const flags = ["--strict", "--target", "es2022", "--lib", "es2023,dom,dom.iterable", "--skipLibCheck", "false"];
    const args = [tsc, "program.ts", "--module", module, "--moduleResolution", resolution, ...flags];
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
    assert.equal(status, 0, `${module}: ${stdout}`);
  }
  const out = execFileSync(process.execPath, ["program.js"], { cwd: folder, encoding: "utf8" });
  assert.equal(out, "8902 2 true true\n");
});
