// A worker for tests: `node test/cluster-worker.mjs '{"cluster":"redis://...","name":"w1","cache":"FOLDER"}'`, with any further
// option of runWorker that is plain data. It says "ready", and ends on SIGTERM.
import { runWorker } from "../dist/cluster/index.js";

const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
await runWorker({
  ...JSON.parse(process.argv[2]),
  signal: stop.signal,
  onReady: () => console.log("ready"),
  onJob: ({ kind, error }) => console.log(error === undefined ? `done ${kind}` : `failed ${kind}: ${error}`),
  note: (text) => console.log(`note: ${text}`),
});
