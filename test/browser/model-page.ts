// Runs in the browser: opens models by their address and answers with plain numbers. See sameness.test.ts.
import { type Feeds, Session } from "#tensor";

export type PlainFeeds = Record<string, { type: "float32" | "int32"; data: number[] }>;

const open = async (url: string) => Session.open(new Uint8Array(await (await fetch(url)).arrayBuffer()));

const typed = (feeds: PlainFeeds): Feeds =>
  Object.fromEntries(
    Object.entries(feeds).map(([name, { type, data }]) => [
      name,
      type === "float32" ? Float32Array.from(data) : Int32Array.from(data),
    ]),
  );

async function runModel(url: string, feeds: PlainFeeds): Promise<Record<string, number[]>> {
  const session = await open(url);
  try {
    const results = await session.run(typed(feeds));
    return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, Array.from(data, Number)]));
  } finally {
    await session.close();
  }
}

/** Milliseconds of each of some runs, after the first. */
async function timeModel(url: string, feeds: PlainFeeds, runs: number): Promise<number[]> {
  const session = await open(url);
  try {
    const times: number[] = [];
    for (let i = 0; i <= runs; i++) {
      const start = performance.now();
      await session.run(typed(feeds));
      times.push(performance.now() - start);
    }
    return times.slice(1);
  } finally {
    await session.close();
  }
}

declare global {
  var runModelHere: typeof runModel;
  var timeModelHere: typeof timeModel;
}
Object.assign(globalThis, { runModelHere: runModel, timeModelHere: timeModel });
