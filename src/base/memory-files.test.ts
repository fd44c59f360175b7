import assert from "node:assert/strict";
import { test } from "vitest";
import { createMemoryFiles } from "./memory-files.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const text = async (files: ReturnType<typeof createMemoryFiles>, path: string) => {
  const { size, read } = await files.openRandom(path);
  return new TextDecoder().decode(read(0, size));
};

test("a folder takes another's name with all that is in it", async () => {
  const files = createMemoryFiles();
  await files.makeFolder("memory:run/best.part");
  await (await files.createRaw("memory:run/best.part/model")).write(bytes("new"));
  await files.makeFolder("memory:run/best");
  await (await files.createRaw("memory:run/best/model")).write(bytes("old"));
  await files.rename("memory:run/best", "memory:run/best.old");
  await files.rename("memory:run/best.part", "memory:run/best");
  await files.removeFolder("memory:run/best.old");
  assert.equal(await text(files, "memory:run/best/model"), "new");
  assert.equal(await files.listFolder("memory:run/best.old"), undefined);
  assert.equal(await files.listFolder("memory:run/best.part"), undefined);
});

test("a folder lists the names in it, not those below them or beside it", async () => {
  const files = createMemoryFiles();
  for (const folder of ["memory:run", "memory:run/best", "memory:runs"]) await files.makeFolder(folder);
  for (const path of ["memory:run/config.json", "memory:run/best/model", "memory:runs/x"])
    await files.append(path, bytes("x"));
  assert.deepEqual(await files.listFolder("memory:run"), ["best", "config.json"]);
});

test("a file grows at its end, is cut, and a missing one is said to be missing", async () => {
  const files = createMemoryFiles();
  const reused = bytes("one");
  await files.append("memory:log", reused);
  reused.fill(0);
  await files.append("memory:log", bytes(" two"));
  assert.equal(await text(files, "memory:log"), "one two");
  await (await files.openAppend("memory:log", 3)).write(bytes("!"));
  assert.equal(await text(files, "memory:log"), "one!");
  await assert.rejects(files.openRaw("memory:none"), { code: "FILE_MISSING" });
  await assert.rejects(files.createRaw("memory:log"), { code: "FILE_EXISTS" });
});

test("scratch is read in any order while it grows", async () => {
  const scratch = await createMemoryFiles().createScratch("memory:x");
  await scratch.write(bytes("abc"));
  assert.equal(new TextDecoder().decode(scratch.read(1, 2)), "bc");
  await scratch.write(bytes("def"));
  assert.deepEqual([scratch.size, new TextDecoder().decode(scratch.read(2, 2))], [6, "cd"]);
});
