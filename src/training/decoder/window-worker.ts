import { serveRows } from "../batches/encode-in-workers.js";
import { WindowEncoder, type WindowEncoding } from "./window-encoder.js";

serveRows(
  ({ encoding, resultShares }: { encoding: WindowEncoding; resultShares: Record<string, number | undefined> }) =>
    new WindowEncoder(encoding, resultShares),
);
