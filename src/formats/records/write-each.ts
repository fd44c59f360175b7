import { createOutput, UserError } from "#base";
import { badRecord, type DataRecord, type OnBad, type RecordWriter } from "./record.js";

/** Writes a file of records that stand one behind another. What `encode` refuses goes to `onBad` and is left out. */
export async function writeEach(
  path: string,
  onBad: OnBad,
  encode: (record: DataRecord) => Uint8Array | string,
): Promise<RecordWriter> {
  const output = await createOutput(path);
  let written = 0;
  return {
    get records() {
      return written;
    },
    async write(records) {
      for (const record of records) {
        let encoded: Uint8Array | string;
        try {
          encoded = encode(record);
        } catch (error) {
          if (!(error instanceof UserError)) throw error;
          onBad(badRecord(error.code, { path, record: written }, error.message));
          continue;
        }
        const full = output.write(encoded);
        if (full) await full;
        written++;
      }
    },
    finish: () => output.finish(),
    commit: () => output.commit(),
    abort: () => output.abort(),
  };
}
