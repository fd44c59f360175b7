// Reads the text format of Prometheus as strictly as its documentation words it.
import assert from "node:assert/strict";

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/;

/** Values by name and labels, as `jobs{state="done"}`. */
export function parseExposition(text: string): Map<string, number> {
  assert.ok(text.endsWith("\n"), "the last line must end");
  const found = new Map<string, number>();
  const types = new Map<string, string>();
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, comment, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (comment) {
      assert.match(name, NAME);
      if (comment === "TYPE") {
        assert.match(rest, /^(counter|gauge|histogram|summary|untyped)$/);
        assert.ok(!types.has(name), `two types of ${name}`);
        types.set(name, rest);
      }
      current = name;
      continue;
    }
    const [, metric, labels = "", value] = SAMPLE.exec(line) ?? assert.fail(`no sample: ${line}`);
    assert.equal(metric, current, "samples stand together, below their type");
    assert.ok(types.has(metric), `no type of ${metric}`);
    for (let left = labels; left !== ""; ) {
      const [pair] = LABEL.exec(left) ?? assert.fail(`labels: ${line}`);
      left = left.slice(pair.length);
    }
    assert.ok(Number.isFinite(Number(value)), line);
    const key = labels ? `${metric}{${labels}}` : metric;
    assert.ok(!found.has(key), `twice: ${key}`);
    found.set(key, Number(value));
  }
  return found;
}
