import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { UserError } from "./errors.js";
import { Journal } from "./scratch.js";

function journalAt(path: string) {
  return async (header: string) => {
    const lines: string[] = [];
    const refuse = (found: string) => new UserError("OTHER", `of ${found}`);
    const journal = await Journal.open({ path, header, onLine: (line) => void lines.push(line), refuse });
    return { journal, lines };
  };
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "tabiya-journal-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "work");
}

test("a journal shows what was done before, and cuts off the line that a kill broke", async () => {
  const path = temporary();
  const open = journalAt(path);
  const { journal } = await open("work A");
  await journal.append("one");
  await journal.close();
  writeFileSync(path, `${readFileSync(path, "utf8")}tw`);
  const again = await open("work A");
  assert.deepEqual(again.lines, ["one"]);
  await again.journal.append("two");
  await again.journal.close();
  assert.equal(readFileSync(path, "utf8"), "work A\none\ntwo\n");
});

test("a journal of other work is refused, unless nothing of it was done", async () => {
  const path = temporary();
  const open = journalAt(path);
  writeFileSync(path, "work A\n"); // killed before it had done anything
  const { journal, lines } = await open("work B");
  assert.deepEqual(lines, []);
  await journal.append("one");
  await journal.close();
  await assert.rejects(open("work A"), /of work B/);
  assert.equal(readFileSync(path, "utf8"), "work B\none\n");
});

test("a journal in which nothing was done goes when it is closed", async () => {
  const path = temporary();
  const { journal } = await journalAt(path)("work A");
  assert.ok(existsSync(path));
  await journal.close();
  assert.ok(!existsSync(path));
});
