import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "vitest";
import { WORKERS } from "#base";

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
const PRIVATE: Record<string, string> = { "#platform": "base", "#chess-wasm": "base", "#runtime": "tensor" }; // doors of one folder
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
      ? path in PRIVATE
        ? folder === PRIVATE[path]
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

const sources = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

test("every worker stands in the table of base, and those of the page are built with it", () => {
  const found = sources.filter((file) => file.endsWith("-worker.ts")).map((file) => file.slice(0, -3));
  assert.deepEqual(found.sort(), Object.keys(WORKERS).sort());
  const [, built = ""] = /const WORKERS = \{(.*?)\};/s.exec(readFileSync("vite.config.ts", "utf8")) ?? [];
  const inPage = Object.entries(WORKERS).filter(([, where]) => where.endsWith("page"));
  assert.deepEqual(
    [...built.matchAll(/"([^"]+)":/g)].map(([, name]) => name).sort(),
    inPage.map(([name]) => name).sort(),
  );
});

// Ops are made of tensors, and a tensor looks its op up in their table: when it is asked, not when the file is loaded.
const READ_LATER = "tensor/ops/index.ts";

/** The files that a source file needs when it is loaded; types are gone by then. */
function needs(file: string): string[] {
  const source = readFileSync(`src/${file}`, "utf8");
  const imports = [
    ...source.matchAll(/^(?:import|export)\s+(?!type\b)(?:(\{[^}]*\}|[^"{]*?)\s*from\s*)?"(\.[^"]+)\.js"/gm),
  ];
  return imports
    .filter(([, names = ""]) => !/^\{(\s*type \w+( as \w+)?,?)*\s*\}$/.test(names))
    .map(([, , path]) => join(dirname(file), `${path}.ts`))
    .filter((path) => path !== READ_LATER);
}

test("no file needs itself, however far around", () => {
  const state = new Map<string, "open" | "done">();
  const cycles: string[] = [];
  const visit = (file: string, way: readonly string[]) => {
    if (state.get(file) === "done" || !sources.includes(file)) return;
    if (state.get(file) === "open") {
      cycles.push([...way.slice(way.indexOf(file)), file].join(" -> "));
      return;
    }
    state.set(file, "open");
    for (const needed of needs(file)) visit(needed, [...way, file]);
    state.set(file, "done");
  };
  for (const file of sources) visit(file, []);
  assert.deepEqual(cycles, []);
});

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
