import { concatBytes } from "./bytes.js";
import { UserError } from "./errors.js";
import type { RandomBytes } from "./platform.js";

const NEWLINE = 10;
const LONGEST_LINE = 1 << 26; // bytes; a longer one is not text but a mistake

/** Lines that came in together, without their line ends. */
export interface LineBatch {
  lines: string[];
  firstLine: number; // the first is line 1
  firstByte: number; // where the first begins, in the decompressed text
}

/**
 * The lines of a text in batches, one per chunk: the fast way. Also the last line, if it has no end. Bytes that are no
 * text are refused; `name` is for messages.
 */
export async function* readLineBatches(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<LineBatch> {
  const decoder = new TextDecoder();
  let held: Uint8Array[] = []; // chunks without a line end
  let heldLength = 0;
  let firstLine = 1;
  let firstByte = 0;
  const batch = (text: Uint8Array): LineBatch => {
    const zero = text.indexOf(0);
    if (zero >= 0) {
      throw new UserError(
        "FILE_NOT_TEXT",
        `${name}: byte ${firstByte + zero} is 0, which no text has. This is a binary file, or a damaged one.`,
      );
    }
    const lines = decoder.decode(text).split("\n");
    lines.pop(); // what follows the last line end: nothing
    if (text.includes(13))
      for (let i = 0; i < lines.length; i++) if (lines[i].endsWith("\r")) lines[i] = lines[i].slice(0, -1);
    if (firstByte === 0 && lines[0].startsWith("\ufeff")) lines[0] = lines[0].slice(1);
    const result = { lines, firstLine, firstByte };
    firstLine += lines.length;
    firstByte += text.length;
    return result;
  };
  for await (const chunk of bytes) {
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      const text = concatBytes([...held, chunk.subarray(0, end)]);
      held = [];
      heldLength = 0;
      yield batch(text);
    }
    if (end < chunk.length) {
      held.push(chunk.slice(end));
      heldLength += chunk.length - end;
      if (heldLength > LONGEST_LINE) {
        throw new UserError("FILE_NOT_TEXT", `${name}: line ${firstLine} is longer than ${LONGEST_LINE} bytes.`);
      }
    }
  }
  if (heldLength > 0) yield batch(concatBytes([...held, new Uint8Array([NEWLINE])]));
}

/** The lines of a text, one by one; see readLineBatches. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<string> {
  for await (const { lines } of readLineBatches(bytes, name)) yield* lines;
}

/** The line of a file that begins at `byte`, without its end, which must be there. */
export function readLineAt(file: RandomBytes, byte: number): string {
  for (let length = 512; ; length *= 4) {
    const bytes = file.read(byte, Math.min(length, file.size - byte));
    const end = bytes.indexOf(10);
    if (end >= 0) return new TextDecoder().decode(bytes.subarray(0, end));
  }
}
