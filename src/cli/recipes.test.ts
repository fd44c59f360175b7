import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "vitest";
import { runProgram } from "./program.js";
import { readRecipe } from "./recipe-files.js";
import recipes from "./recipes.js";

async function run(...argv: string[]) {
  let stdout = "";
  let stderr = "";
  const output = { stdout: (text: string) => (stdout += text), stderr: (text: string) => (stderr += text) };
  const code = await runProgram([recipes], ["recipes", ...argv], output, { version: "0" });
  return { code, stdout, stderr };
}

test("every recipe of the box is listed with its network and a sentence", async () => {
  const { code, stdout } = await run();
  assert.equal(code, 0);
  assert.match(stdout, /^nnue-tiny +nnue, tiny +A small network for the alpha-beta search\.$/m);
  assert.match(stdout, /^learn-tiny +\w+, tiny /m);
});

test("a recipe of the box is found by its name and by its path in the clone", async () => {
  const text = readFileSync("recipes/nnue-tiny.yaml", "utf8");
  for (const name of ["nnue-tiny", "nnue-tiny.yaml", "recipes/nnue-tiny.yaml"])
    assert.equal(await readRecipe(name), text, name);
  await assert.rejects(readRecipe("nnue-tiney"), { code: "RECIPE_MISSING" });
  await assert.rejects(readRecipe("elsewhere/nnue.yaml"), { code: "FILE_MISSING" });
});

test("docs/recipes.md is what `tabiya recipes --all` prints", async () => {
  const { stdout } = await run("--all");
  const page = readFileSync("docs/recipes.md", "utf8").replaceAll("\r\n", "\n");
  assert.equal(page, stdout, "write it anew: node dist/cli/main.js recipes --all > docs/recipes.md");
});

test("a name that is neither a recipe nor a family is refused with what there is", async () => {
  const { code, stderr } = await run("nnu");
  assert.equal(code, 1);
  assert.match(stderr, /no recipe or family "nnu".*\n.*nnue-tiny/);
});
