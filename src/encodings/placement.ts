import type { Square } from "#chess";

/** The first field of a FEN, from the letter that stands on each square. */
export function formatPlacement(letterOn: (square: Square) => string | undefined): string {
  const ranks: string[] = [];
  for (let rank = 7; rank >= 0; rank--) {
    let text = "";
    for (let file = 0; file < 8; file++) text += letterOn(rank * 8 + file) ?? ".";
    ranks.push(text.replace(/\.+/g, (empty) => String(empty.length)));
  }
  return ranks.join("/");
}
