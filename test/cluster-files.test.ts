// The compose file and the unit that docs/cluster.md hands out: whole, and with options that exist.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { parse } from "yaml";
import clusterStatus from "../src/cli/cluster-status.js";
import type { Command } from "../src/cli/command.js";
import worker from "../src/cli/worker.js";

const folder = "docs/cluster";
const text = (name: string) => readFileSync(join(folder, name), "utf8");
const COMMANDS: Record<string, Command> = { worker, "cluster status": clusterStatus };

/** Every --option of a command line is one of the command's, and none wants a secret. */
function checkLine(words: readonly string[]): void {
  const name = Object.keys(COMMANDS).find((known) => `${words.join(" ")} `.startsWith(`${known} `));
  assert.ok(name, words.join(" "));
  const known = Object.keys(COMMANDS[name].options).map((option) => `--${option}`);
  const given = words.filter((word) => word.startsWith("--"));
  assert.ok(given.length >= 2);
  for (const option of given) assert.ok(known.includes(option), `tabiya ${name} has no ${option}`);
  assert.ok(!words.some((word) => word.includes("@")), "a password on a command line");
}

interface Service {
  image?: string;
  build?: { context: string; dockerfile: string };
  command: string | string[];
  environment: Record<string, string>;
  volumes?: string[];
}

test("the compose file starts commands that exist, with secrets that the example names", () => {
  const { services, volumes } = parse(text("compose.yaml"), { merge: true }) as { services: Record<string, Service>; volumes: object }; // biome-ignore format: a list
  assert.deepEqual(Object.keys(services), ["redis", "store", "worker", "metrics"]);
  const example = [...text("cluster.env.example").matchAll(/^#?(\w+)=/gm)].map(([, name]) => name);
  for (const [, name] of text("compose.yaml").matchAll(/\$\{(\w+)/g)) assert.ok(example.includes(name), name);
  for (const { image, build, command, environment, volumes: mounts = [] } of Object.values(services)) {
    assert.ok(Object.keys(environment).length > 0);
    for (const mount of mounts) assert.ok(mount.split(":")[0] in volumes, mount);
    if (build) {
      assert.ok(existsSync(join(folder, build.context, build.dockerfile)));
      checkLine(command as string[]);
    } else assert.match(image ?? "", /:\d/); // a version, not the latest
  }
});

test("the unit starts a worker, and systemd understands it", () => {
  const unit = text("tabiya-worker.service");
  const line = /^ExecStart=\/usr\/bin\/env tabiya (.*)$/m.exec(unit)?.[1] ?? assert.fail("no ExecStart");
  checkLine(line.split(" "));
  for (const section of ["Unit", "Service", "Install"]) assert.match(unit, new RegExp(`^\\[${section}\\]$`, "m"));
  const { status, stderr, error } = spawnSync("systemd-analyze", ["verify", join(folder, "tabiya-worker.service")], { encoding: "utf8" }); // biome-ignore format: a list
  if (!error) assert.equal(status, 0, stderr);
});
