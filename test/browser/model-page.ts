// Runs in the browser: opens models by their address and answers with plain numbers. See sameness.test.ts.
import { type Feeds, Session } from "#tensor";

export type PlainFeeds = Record<string, { type: "float32" | "int32"; data: number[] }>;

export async function runModel(url: string, feeds: PlainFeeds): Promise<Record<string, number[]>> {
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
  const session = await Session.open(bytes);
  try {
    const typed: Feeds = Object.fromEntries(
      Object.entries(feeds).map(([name, { type, data }]) => [
        name,
        type === "float32" ? Float32Array.from(data) : Int32Array.from(data),
      ]),
    );
    const results = await session.run(typed);
    return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, Array.from(data, Number)]));
  } finally {
    await session.close();
  }
}

Object.assign(globalThis, { runModel });
