// Commands in the documents, as a reader would type them: blocks after <!-- run --> are run, line by line, in a folder of their own that
// has some games. And no page is forgotten or points nowhere.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, test } from "vitest";
import { COMMAND_NAMES } from "../src/cli/commands.js";

const folder = mkdtempSync(join(tmpdir(), "tabiya-docs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const games = gunzipSync(readFileSync("games/lichess.pgn.gz")).toString("latin1");
writeFileSync(join(folder, "games.pgn"), games.slice(0, games.indexOf("[Event ", 300_000)), "latin1");

const pages = ["README.md", ...readdirSync("docs", { recursive: true, encoding: "utf8" }).map((name) => join("docs", name))].filter((name) => name.endsWith(".md")); // biome-ignore format: one thought
const main = resolve("dist/cli/main.js");

/** Words of a command line; quotes hold some together. */
const wordsOf = (line: string) =>
  [...line.replace(/\s#.*$/, "").matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word);

const blocksOf = (page: string) =>
  [
    ...readFileSync(page, "utf8")
      .replaceAll("\r\n", "\n")
      .matchAll(/<!-- run -->\n```\n(.*?)```/gs),
  ].map(([, block]) => block);

test("the commands of the documents run, one after the other", () => {
  const lines = pages.flatMap(
    (page) =>
    blocksOf(page).flatMap((block) => block.replaceAll("\\\n", " ").split("\n").filter(Boolean).map((line) => ({ page, line }))), // biome-ignore format: one thought
  );
  assert.ok(lines.length >= 8, `${lines.length} commands`);
  for (const { page, line } of lines) {
    const [first, second, ...rest] = wordsOf(line);
    const words = first === "npx" ? rest : [second, ...rest];
    assert.ok(first === "tabiya" || (first === "npx" && second === "tabiya"), `${page}: ${line}`);
    const { status, stderr } = spawnSync(process.execPath, [main, ...words], { cwd: folder, encoding: "utf8", input: "e4\nresign\n" }); // biome-ignore format: one line
    assert.equal(status, 0, `${page}: ${line}\n${stderr}`);
  }
}, 300_000);

test("every command that a document names is there", () => {
  const groups = new Set(COMMAND_NAMES.map((name) => name.split(" ")[0]));
  const wrong: string[] = [];
  for (const page of pages)
    for (const [, first, second] of readFileSync(page, "utf8").matchAll(
      /(?:`|^|npx )tabiya ([a-z]+)(?: ([a-z]+))?/gm,
    )) {
      const isKnown = COMMAND_NAMES.includes(first) || (groups.has(first) && (second === undefined || COMMAND_NAMES.includes(`${first} ${second}`))); // biome-ignore format: one thought
      if (!isKnown) wrong.push(`${page}: tabiya ${first} ${second ?? ""}`);
    }
  assert.deepEqual(wrong, []);
});

test("links between the documents lead somewhere, and the index names every page", () => {
  const broken: string[] = [];
  for (const page of pages)
    for (const [, target] of readFileSync(page, "utf8").matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g))
      if (!existsSync(join(dirname(page), target))) broken.push(`${page}: ${target}`);
  assert.deepEqual(broken, []);
  const index = readFileSync("docs/README.md", "utf8");
  const missing = readdirSync("docs").filter((name) => name.endsWith(".md") && name !== "README.md" && !index.includes(`(${name})`)); // biome-ignore format: one thought
  const formats = readdirSync("docs/formats").filter((name) => !index.includes(`(formats/${name})`));
  assert.deepEqual([...missing, ...formats], []);
});
