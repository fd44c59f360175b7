// Fits win, draw and loss to scores and material, as wdlOfScore of src/chess/score.ts has it:
//   node bench/wdl.mjs games.bin [positions]
// A share of the records of games with engine scores is read; four fifths of it fit the curves, the rest judges them. Prints
// one JSON object: the parameters, and the mean surprise (nats) of the curves fitted here, of those in use, and without material.
import { parseFen, wdlOfScore } from "#chess";
import { openRecords } from "#formats";

const [file, wanted = "120000"] = process.argv.slice(2);
if (!file) {
  console.error("usage: node bench/wdl.mjs games.bin [positions]");
  process.exit(1);
}

const FULL = 78;
const rows = [];
const source = await openRecords(file);
const every = Math.max(1, Math.floor((source.records ?? 0) / Number(wanted)));
let number = 0;
for await (const records of source)
  for (const { fen, score, result } of records)
    if (number++ % every === 0 && Math.abs(score) <= 30_000)
      rows.push({ cp: score, material: parseFen(fen).material(), result });
// Neighbours come from the same games: whole stretches of the file are kept back.
const isUnseen = (_, i) => Math.floor(i / 1000) % 5 === 4;
const unseen = rows.filter(isUnseen);
const learnt = rows.filter((row, i) => !isUnseen(row, i));

const chance = (cp, even, spread) => 1 / (1 + Math.exp((even - cp) / spread));
const surprise = (sample, sharesOf) => {
  let sum = 0;
  for (const row of sample) {
    const [win, loss] = sharesOf(row);
    sum -= Math.log(Math.max(1e-4, row.result === 0 ? 1 - win - loss : row.result > 0 ? win : loss));
  }
  return sum / sample.length;
};
const curves =
  ([bare, full, spread]) =>
  ({ cp, material }) => {
    const even = bare + (full - bare) * Math.min(1, material / FULL);
    return [chance(cp, even, spread), chance(-cp, even, spread)];
  };

/** Steps along each parameter, halved when none helps. */
function fitCurves(start, isFixed) {
  let best = start;
  let least = surprise(learnt, curves(best));
  for (let step = 64; step >= 1; ) {
    let found = false;
    for (let i = 0; i < best.length; i++)
      for (const sign of [1, -1]) {
        const next = best.with(i, best[i] + sign * step);
        if (isFixed) next[1] = next[0];
        const value = next[2] > 0 ? surprise(learnt, curves(next)) : Infinity;
        if (value < least) [best, least, found] = [next, value, true];
      }
    if (!found) step /= 2;
  }
  return best;
}

const [bare, full, spread] = fitCurves([120, 120, 70], false);
const plain = fitCurves([120, 120, 70], true);
console.log(
  JSON.stringify({
    positions: rows.length,
    fitted: { bare, full, spread },
    surprise: {
      fitted: surprise(unseen, curves([bare, full, spread])),
      inUse: surprise(unseen, ({ cp, material }) => {
        const [win, , loss] = wdlOfScore(cp, material);
        return [win / 1000, loss / 1000];
      }),
      withoutMaterial: surprise(unseen, curves(plain)),
    },
  }),
);
