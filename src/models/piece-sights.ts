/** Where pieces could go on an empty board, by the distances between files and ranks: rook, bishop, knight and king. */
const SIGHTS = [
  (file: number, rank: number) => file === 0 || rank === 0,
  (file: number, rank: number) => file === rank,
  (file: number, rank: number) => Math.max(file, rank) <= 1 || file * rank === 2,
];

/** Whether an attention head that sees like a piece, the kinds in turn, sees one square from another; each sees its own. */
export function seesLikePiece(head: number, from: number, to: number): boolean {
  const [file, rank] = [Math.abs((from % 8) - (to % 8)), Math.abs((from >> 3) - (to >> 3))];
  return from === to || SIGHTS[head % SIGHTS.length](file, rank);
}
