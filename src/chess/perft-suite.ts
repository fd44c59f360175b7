interface PerftLine {
  fen: string;
  counts: { depth: number; nodes: number }[];
}

/** Reads both kinds of suite: `FEN ;D1 20 ;D2 400` lines, and blocks of `epd FEN` with `perft DEPTH NODES` lines. */
export function parsePerftSuite(text: string): PerftLine[] {
  const found: PerftLine[] = [];
  for (const line of text.split("\n")) {
    const words = line.trim().split(/\s+/);
    if (words[0] === "epd") found.push({ fen: words.slice(1).join(" "), counts: [] });
    else if (words[0] === "perft") found.at(-1)?.counts.push({ depth: Number(words[1]), nodes: Number(words[2]) });
    else if (line.includes(";D")) {
      const [fen, ...rest] = line.split(";");
      const counts = rest.map((field) => {
        const [depth, nodes] = field.trim().slice(1).split(/\s+/).map(Number);
        return { depth, nodes };
      });
      found.push({ fen: fen.trim(), counts });
    }
  }
  return found;
}
