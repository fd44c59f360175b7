import { concatBytes, UserError } from "#base";

const CHUNK = 1 << 20; // bytes of text a worker gets at once
const LONGEST = 1 << 27; // bytes without the start of a game: this is not PGN
const EVENT = new TextEncoder().encode('[Event "');

/** Text that holds whole games. */
export interface GameChunk {
  bytes: Uint8Array<ArrayBuffer>; // all of its buffer, so that it can be handed over
}

/** Cuts a stream of PGN before a game, whenever a megabyte is there. */
export async function* readGameChunks(bytes: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<GameChunk> {
  let held: Uint8Array[] = [];
  let length = 0;
  let wanted = CHUNK;
  for await (const piece of bytes) {
    held.push(piece);
    length += piece.length;
    if (length < wanted) continue;
    const text = concatBytes(held);
    const cut = lastGame(text);
    if (cut > 0) {
      yield { bytes: text.slice(0, cut) as Uint8Array<ArrayBuffer> };
      wanted = CHUNK;
    } else {
      wanted = length * 2;
      if (wanted > LONGEST) {
        throw new UserError("PGN_CUT", `${path}: no game begins in ${length} bytes. Is this a file of games in PGN?`);
      }
    }
    held = [text.slice(Math.max(0, cut))];
    length = held[0].length;
  }
  if (length > 0) yield { bytes: concatBytes(held).slice() as Uint8Array<ArrayBuffer> };
}

/** Where the last game of the text begins: at a line [Event "..."] that follows an empty line or a result. */
function lastGame(text: Uint8Array): number {
  for (let at = text.lastIndexOf(EVENT[0]); at > 0; at = text.lastIndexOf(EVENT[0], at - 1)) {
    if (text[at - 1] !== 10 || !EVENT.every((byte, i) => text[at + i] === byte)) continue;
    let before = at - 1;
    let lines = 0;
    while (before > 0 && text[before] <= 32) if (text[before--] === 10) lines++;
    const isResult = [48, 49, 50, 42].includes(text[before]); // the last of 1-0, 0-1, 1/2-1/2, *
    if (lines > 1 || isResult) return at;
  }
  return -1;
}
