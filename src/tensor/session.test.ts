import assert from "node:assert/strict";
import { test } from "vitest";
import { input } from "./graph.js";
import { exportOnnx } from "./onnx/export.js";
import { Session } from "./session.js";

const x = input("x", ["n", 2]);

test("one session runs several models, and arrays that were lent come back for the next run", async () => {
  const session = await Session.open([exportOnnx({ y: x.mul(2) }), exportOnnx({ y: x.add(1) })], { threads: 1 });
  const values = Float32Array.from([1, 2, 3, 4]);
  assert.deepEqual([...(await session.run({ x: values })).y.data], [2, 4, 6, 8]);
  assert.deepEqual([...(await session.run({ x: values }, { model: 1 })).y.data], [2, 3, 4, 5]);
  assert.equal(values.length, 4); // copied

  const lent = session.room(4);
  lent.set(values);
  const { buffer } = lent;
  const { y } = await session.run({ x: lent }, { lend: true });
  assert.deepEqual([...y.data], [2, 4, 6, 8]);
  assert.equal(buffer.byteLength, 0); // handed over
  const again = session.room(2); // fewer values in the same memory
  assert.equal(again.buffer.byteLength, 16);
  again.set([5, 6]);
  assert.deepEqual([...(await session.run({ x: again }, { lend: true, model: 1 })).y.data], [6, 7]);
  assert.equal(session.room(6).length, 6); // more than there is room for
  await session.close();
});

test("of an output only the values asked for come back, in their order", async () => {
  const session = await Session.open(exportOnnx({ y: x.mul(2), z: x.add(1) }), { threads: 1 });
  const pick = { y: Int32Array.of(3, 0, 3) };
  const { y, z } = await session.run({ x: Float32Array.of(1, 2, 3, 4) }, { pick });
  assert.deepEqual([[...y.data], y.shape], [[8, 2, 8], [3]]);
  assert.deepEqual([...z.data], [2, 3, 4, 5]);
  await session.close();
});

test("a model that is made when it is first run is made once, and one that cannot be opened says why", async () => {
  let made = 0;
  const model = () => {
    made++;
    return exportOnnx({ y: x.mul(2) });
  };
  const session = await Session.open([model, () => new Uint8Array(9)], { threads: 2, lanes: 2 });
  assert.equal(made, 0);
  const values = Float32Array.from([1, 2]);
  const answers = [session.run({ x: values }), session.run({ x: values })]; // in two lanes
  values.fill(0); // they have copies
  for (const answer of answers) assert.deepEqual([...(await answer).y.data], [2, 4]);
  assert.equal(made, 1);
  await assert.rejects(session.run({ x: values }, { model: 1 }), /protobuf|model/i);
  await session.close();
});

test("an eager session makes its first model once, and opens it before it is first run", async () => {
  let made = 0;
  const model = () => {
    made++;
    return exportOnnx({ y: x.mul(2) });
  };
  const session = await Session.open([model, () => new Uint8Array(9)], { threads: 2, lanes: 2, eager: true });
  assert.deepEqual([made, session.inputs, session.outputs], [1, ["x"], ["y"]]);
  const answers = await Promise.all([1, 2].map((value) => session.run({ x: Float32Array.of(value, 0) })));
  assert.deepEqual([answers.map(({ y }) => y.data[0]), made], [[2, 4], 1]);
  await session.close();
});

test("a session with two lanes answers a short question while a long one is computed", async () => {
  let slow = x;
  for (let i = 0; i < 20; i++) slow = slow.sin();
  const session = await Session.open(exportOnnx({ y: slow }), { threads: 2, lanes: 2 });
  let done: string[] = [];
  const ask = async (name: string, rows: number) => {
    const { y } = await session.run({ x: new Float32Array(2 * rows) });
    assert.equal(y.data.length, 2 * rows);
    done.push(name);
  };
  await Promise.all([ask("first", 1), ask("second", 1)]); // opens both lanes
  done = [];
  await Promise.all([ask("long", 1_000_000), ask("short", 1)]);
  assert.deepEqual(done, ["short", "long"]);
  await session.close();
});
