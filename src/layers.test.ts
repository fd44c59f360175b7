import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";

// The ground first. A folder imports only from rows listed before its own.
const LAYERS = [
  ["base"],
  ["chess", "tensor"],
  ["encodings", "formats"],
  ["models"],
  ["training", "search"],
  ["engine"],
  ["arena"],
  ["data"],
  ["cluster"],
  ["learn"],
  ["web"],
  ["cli"],
];
const MAY_USE_NODE = ["base", "cli", "web"]; // of web only the server; the page is built for the browser
const height = (folder: string) => LAYERS.findIndex((row) => row.includes(folder));
const folders = LAYERS.flat().filter((folder) => existsSync(`src/${folder}`));

/** What is wrong with each import of a source file, as a list of sentences. */
function complaints(folder: string, file: string, source: string): string[] {
  const found: string[] = [];
  for (const [, path = ""] of source.matchAll(/(?:from|import)\s*\(?\s*"((?:[#.]|node:)[^"]+)"/g)) {
    if (path.startsWith("node:")) {
      if (!MAY_USE_NODE.includes(folder) && !file.endsWith(".test.ts"))
        found.push(`src/${folder}/${file} imports ${path}`);
      continue;
    }
    const door = path.slice(1);
    const allowed = path.startsWith("#")
      ? path === "#platform"
        ? folder === "base"
        : height(door) >= 0 && height(door) < height(folder)
      : !join(dirname(file), path).startsWith("..");
    if (!allowed) found.push(`src/${folder}/${file} imports ${path}`);
  }
  return found;
}

for (const folder of folders) {
  test(`${folder} imports only from below, and only through #doors`, () => {
    const wrong = readdirSync(`src/${folder}`, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) => complaints(folder, file, readFileSync(`src/${folder}/${file}`, "utf8")));
    assert.deepEqual(wrong, []);
  });
}

test("every folder of src has its row", () => {
  const unknown = readdirSync("src", { withFileTypes: true }).filter((e) => e.isDirectory() && height(e.name) < 0);
  assert.deepEqual(
    unknown.map((e) => e.name),
    [],
  );
});

test("an import that points up, sideways, past a door or to Node is seen", () => {
  const seen = (folder: string, line: string) => complaints(folder, "x.ts", line).length === 1;
  assert.ok(seen("chess", 'import { run } from "#arena";'));
  assert.ok(seen("chess", 'import { graph } from "#tensor";'));
  assert.ok(seen("cli", 'import { parseFen } from "../chess/fen.js";'));
  assert.ok(seen("cli", 'import { parseFen } from "#chess/fen";'));
  assert.ok(seen("formats", 'import { readFile } from "node:fs/promises";'));
  assert.ok(seen("formats", 'const { x } = await import("#cli");'));
  assert.ok(!seen("cli", 'import { parseFen } from "#chess";'));
});
