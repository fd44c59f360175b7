import { serveRows } from "../batches/encode-in-workers.js";
import { type FileNotes, PlaneEncoder, type PlaneEncoding } from "./plane-encoder.js";

serveRows(
  ({ encoding, files }: { encoding: PlaneEncoding; files: Record<string, FileNotes> }) =>
    new PlaneEncoder(encoding, files),
);
