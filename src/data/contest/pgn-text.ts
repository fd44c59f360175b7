const GAME = /\[Event "[\s\S]*?\n\n[\s\S]*?(?:^|\s)(1-0|0-1|1\/2-1\/2)\n\n/y;

/** The whole game that begins at a place of a contest's PGN, as text; undefined if there is none, or only a part of one. */
export function matchGame(text: string, at: number): string | undefined {
  GAME.lastIndex = at;
  return GAME.exec(text)?.[0];
}

/** The tags of a game's text. */
export function readTags(text: string): Map<string, string> {
  const tags = new Map<string, string>();
  for (const [, name, value] of text.matchAll(/^\[(\w+) "((?:[^"\\]|\\.)*)"\]$/gm)) {
    tags.set(name, value.replace(/\\(.)/g, "$1"));
  }
  return tags;
}

/** White's points. */
export const pointsOf = (result: string): number => (result === "1-0" ? 1 : result === "0-1" ? 0 : 0.5);
