// The contest of docs/measuring.md, as a reader would run it: against dist, so build first.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { transformSync } from "esbuild";
import { afterAll, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "tabiya-contest-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const dist = pathToFileURL(resolve("dist")).href;
const docs = readFileSync("docs/measuring.md", "utf8");
const block = (language: string) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, "s").exec(docs)?.[1] ?? "";

/** What must not depend on how or in how many parts a match was played. */
const result = (text: string) => {
  const { wins, draws, losses, elo, error, los, pentanomial } = JSON.parse(text);
  return { wins, draws, losses, elo, error, los, pentanomial };
};

function tabiya(...args: string[]): string {
  const main = resolve("dist/cli/main.js");
  return execFileSync(process.execPath, [main, ...args, "--json"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  }).toString();
}

test("a match from a JSON spec, run by a short program, stopped and resumed, ends like the command", async () => {
  writeFileSync(join(folder, "match.json"), block("json"));
  const code = block("ts").replace(/"tabiya\/(\w+)"/g, `"${dist}/$1/index.js"`);
  writeFileSync(join(folder, "program.mjs"), transformSync(code, { loader: "ts" }).code);
  const start = () => spawn(process.execPath, ["program.mjs"], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });

  const first = start();
  first.stderr.on("data", (chunk) => /^2\d of 60/m.test(String(chunk)) && first.kill("SIGINT"));
  assert.equal(await new Promise((done) => first.on("exit", done)), 1);
  const played = readFileSync(join(folder, "games.pgn"), "utf8").match(/^\[Event /gm)?.length ?? 0;
  assert.ok(played >= 20 && played < 60, `${played} games before it was stopped`);

  const second = start();
  let stdout = "";
  second.stdout.on("data", (chunk) => (stdout += chunk));
  assert.equal(await new Promise((done) => second.on("exit", done)), 0);

  const flags = ["--games", "60", "--max-moves", "30", "--seed", "7"];
  const [bySpec, byFlags] = [tabiya("match", "--spec", "match.json"), tabiya("match", "random", "random", ...flags)];
  assert.deepEqual(result(stdout), result(bySpec));
  assert.equal(JSON.parse(byFlags).wins + JSON.parse(byFlags).draws + JSON.parse(byFlags).losses, 60);
  assert.notDeepEqual(result(byFlags), result(bySpec)); // of other openings: the comparison above can fail
});
