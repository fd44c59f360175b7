// A training program as a user of the library would write it: `node train.mjs CHECKPOINT STEPS`.
// Ctrl-C stops it after the present step, with everything saved; started again, it goes on from there.
import { existsSync, readFileSync } from "node:fs";
import { Random } from "tabiya/base";
import { crossEntropy, input, linear, parametersOf, readSafetensors, saveSafetensors, Trainer } from "tabiya/tensor";

const [file, steps] = [process.argv[2], Number(process.argv[3])];
const random = new Random(1);
const [BATCH, WIDTH] = [512, 384];
const model = {
  first: linear(WIDTH, WIDTH, random),
  second: linear(WIDTH, WIDTH, random),
  head: linear(WIDTH, 10, random),
};
const hidden = model.second.apply(model.first.apply(input("x", [BATCH, WIDTH])).relu()).relu();
const loss = crossEntropy(model.head.apply(hidden), input("label", [BATCH], "int32")).mean();
const trainer = await Trainer.open({ model, loss, optimiser: { name: "adamw" } });

const parameters = parametersOf(model);
let step = 0;
if (existsSync(file)) {
  const { tensors, metadata } = readSafetensors(readFileSync(file), file);
  step = Number(metadata.step);
  const named = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (const { name, data } of parameters) data.set(named.get(`model.${name}`).data);
  await trainer.push();
  const state = tensors.filter(({ name }) => name.startsWith("state."));
  await trainer.restore({
    step,
    tensors: Object.fromEntries(state.map(({ name, shape, data }) => [name.slice(6), { shape, data }])),
  });
}

async function save() {
  await trainer.pull();
  const { tensors } = await trainer.state();
  const float32 = (name, shape, data) => ({ name, dtype: "float32", shape, data });
  await saveSafetensors(
    file,
    [
      ...parameters.map(({ name, shape, data }) => float32(`model.${name}`, shape, data)),
      ...Object.entries(tensors).map(([name, { shape, data }]) => float32(`state.${name}`, shape, data)),
    ],
    { step: String(step) },
  );
}

let interrupted = false;
let inStep = false;
process.on("SIGINT", () => {
  interrupted = true;
  console.log(JSON.stringify({ interrupted: step, inStep }));
});

const batches = new Random(2);
const x = new Float32Array(BATCH * WIDTH);
for (let i = 0; i < step; i++) batches.bits(); // one draw a batch: go to where the last run stopped
for (; step < steps && !interrupted; step++) {
  const source = new Random(batches.bits());
  for (let i = 0; i < x.length; i++) x[i] = source.next() - 0.5;
  const label = Int32Array.from({ length: BATCH }, () => source.below(10));
  const start = performance.now();
  inStep = true;
  const result = await trainer.step({ x, label });
  inStep = false;
  console.log(JSON.stringify({ step: step + 1, loss: result.loss, ms: performance.now() - start }));
}
await save();
await trainer.close();
console.log(JSON.stringify({ saved: step }));
process.exitCode = interrupted ? 130 : 0;
