const utf8 = new TextDecoder("utf-8", { fatal: true });
const latin1 = new TextDecoder("latin1");

/** Text of a file: UTF-8, or where it is not valid UTF-8, Latin-1, in which older games are written. */
export function decodeText(bytes: Uint8Array, start = 0, end = bytes.length): string {
  if (end - start <= 64) {
    // Most values are short ASCII, for which a decoder costs more than it does.
    let text = "";
    let at = start;
    while (at < end && bytes[at] < 128) text += String.fromCharCode(bytes[at++]);
    if (at === end) return text;
  }
  const part = bytes.slice(start, end);
  try {
    return utf8.decode(part);
  } catch {
    return latin1.decode(part);
  }
}

/** A tag's value as it is meant: \" is a quote, \\ a backslash, any other backslash itself. */
export const unescapeValue = (value: string): string => value.replace(/\\(["\\])/g, "$1");
export const escapeValue = (value: string): string => value.replace(/["\\]/g, "\\$&");
