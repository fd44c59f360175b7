const KNIGHTS = [[0, 1], [0, 2], [0, 3], [0, 4], [1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]] as const; // biome-ignore format: one line

/** The starting position with Scharnagl's number 0 to 959; 518 is the usual one. */
export function chess960Fen(number: number): string {
  const rank: string[] = new Array<string>(8).fill("");
  const free = () => rank.flatMap((piece, file) => (piece === "" ? [file] : []));
  rank[(number % 4) * 2 + 1] = "b";
  rank[(Math.floor(number / 4) % 4) * 2] = "b";
  rank[free()[Math.floor(number / 16) % 6]] = "q";
  const places = free();
  for (const place of KNIGHTS[Math.floor(number / 96)]) rank[places[place]] = "n";
  const [long, king, short] = free();
  [rank[long], rank[king], rank[short]] = ["r", "k", "r"];
  const pieces = rank.join("");
  return `${pieces}/pppppppp/8/8/8/8/PPPPPPPP/${pieces.toUpperCase()} w KQkq - 0 1`;
}
