import assert from "node:assert/strict";
import { test } from "vitest";
import { UserError } from "#base";
import { command } from "./command.js";
import { COMMAND_NAMES, loadCommands } from "./commands.js";
import { runProgram } from "./program.js";

const greet = command({
  name: "say hello",
  summary: "Greet somebody.",
  examples: ["tabiya say hello Anna --times 2"],
  arguments: { name: { help: "whom" } },
  options: {
    times: { type: "integer", default: 1, minimum: 1, help: "how often" },
    tone: { choices: ["warm", "cool"], default: "warm", help: "how" },
  },
  run({ name, times, tone }, { print, emit }) {
    if (name === "nobody") throw new UserError("NOBODY", "nobody: there is nobody of that name.");
    if (name === "bug") throw new TypeError("oops");
    for (let i = 0; i < times; i++) print(`Hello ${name}`);
    if (name === "lines") emit({ line: 1 });
    return { name, times, tone };
  },
});

async function run(...argv: string[]) {
  let stdout = "";
  let stderr = "";
  const output = { stdout: (text: string) => (stdout += text), stderr: (text: string) => (stderr += text) };
  const code = await runProgram([greet], argv, output, { version: "1.2.3" });
  return { code, stdout, stderr };
}

test("a command prints for people, and one JSON object under --json wherever the flag stands", async () => {
  assert.deepEqual(await run("say", "hello", "Anna", "--times", "2"), {
    code: 0,
    stdout: "Hello Anna\nHello Anna\n",
    stderr: "",
  });
  const json = { code: 0, stdout: '{"name":"Anna","times":1,"tone":"warm"}\n', stderr: "" };
  for (const argv of [
    ["--json", "say", "hello", "Anna"],
    ["say", "--json", "hello", "Anna"],
    ["say", "hello", "Anna", "--json"],
  ]) {
    assert.deepEqual(await run(...argv), json, argv.join(" "));
  }
});

test("the user's mistake is one message without a stack, and exit code 1", async () => {
  const { code, stdout, stderr } = await run("say", "hello", "nobody");
  assert.deepEqual(
    { code, stdout, stderr },
    { code: 1, stdout: "", stderr: "nobody: there is nobody of that name.\n" },
  );
});

test("our own mistake shows the stack and exits 2", async () => {
  const { code, stderr } = await run("say", "hello", "bug");
  assert.equal(code, 2);
  assert.match(stderr, /bug in tabiya[\s\S]*TypeError: oops/);
});

test("a mistyped command or flag is answered with the nearest", async () => {
  assert.match((await run("sya", "hello")).stderr, /Did you mean say/);
  assert.match((await run("say", "helo")).stderr, /Did you mean "hello"/);
  assert.match((await run("say", "hello", "A", "--tims", "3")).stderr, /Did you mean --times/);
  assert.equal((await run("say", "helo")).code, 1);
});

test("a value of the wrong kind is refused with what was expected", async () => {
  for (const [value, expected] of [
    ["two", /expected a whole number/],
    ["1.5", /expected a whole number/],
    ["0", /expected at least 1/],
  ] as const) {
    const { code, stderr } = await run("say", "hello", "A", "--times", value);
    assert.equal(code, 1);
    assert.match(stderr, expected);
  }
  assert.match((await run("say", "hello", "A", "--tone", "loud")).stderr, /warm, cool/);
  assert.match((await run("say", "hello")).stderr, /missing required argument 'name'/);
});

test("help shows the examples, and the version is printed", async () => {
  assert.match((await run("say", "hello", "--help")).stdout, /Examples:\n {2}tabiya say hello Anna/);
  assert.equal((await run("--version")).stdout, "1.2.3\n");
});

test("every command is listed under its own name, with examples that show it", async () => {
  const commands = await loadCommands([]);
  assert.deepEqual(
    commands.map((command) => command.name),
    COMMAND_NAMES,
  );
  for (const { name, examples } of commands) {
    assert.ok(examples.length > 0 && examples.every((line) => line.includes(`tabiya ${name}`)), name);
  }
});

test("a command line loads only the command it names", async () => {
  const names = async (...argv: string[]) => (await loadCommands(argv)).map((command) => command.name);
  assert.deepEqual(await names("perft", "3", "--json"), ["perft"]);
  assert.deepEqual(await names("--json", "pgn", "check", "x.pgn"), ["pgn check"]);
  assert.deepEqual(await names("pfert", "3"), COMMAND_NAMES);
  assert.deepEqual(await names("--help"), COMMAND_NAMES);
});
