import type { Facts } from "./facts.js";

/** One bar: values from `from` to `to`, both included. */
export interface HistogramBin {
  from: number;
  to: number;
  count: number;
}

const bins = (edges: readonly number[]): HistogramBin[] =>
  edges.slice(1).map((edge, i) => ({ from: edges[i], to: edge - 1, count: 0 }));

// Narrow where most positions are; centipawns beyond a mate's score do not occur.
const SCORE_EDGES = [
  -32_768, -10_000, -3_000, -1_000, -600, -400, -250, -150, -80, -30, 0, 1, 31, 81, 151, 251, 401, 601, 1_001, 3_001,
  10_001, 32_769,
];
const PLY_EDGES = [...Array.from({ length: 13 }, (_, i) => i * 16), 256, 65_536];
const PIECE_EDGES = Array.from({ length: 17 }, (_, i) => 2 + 2 * i).map((edge) => Math.min(edge, 33));

/** How the records of a file are spread: each fact counted in bins, and how often a yes-or-no fact holds. */
export class Histograms {
  records = 0;
  readonly score = bins(SCORE_EDGES); // centipawns, for the side to move
  readonly ply = bins(PLY_EDGES);
  readonly pieces = bins(PIECE_EDGES);
  readonly result = [-1, 0, 1].map((value): HistogramBin => ({ from: value, to: value, count: 0 })); // for the side to move
  readonly kingSquare: number[] = new Array(64).fill(0); // of the mover's king, a1 first, Black's board turned
  inCheck = 0;
  readonly moves = { quiet: 0, capture: 0, promotion: 0, castling: 0 }; // of the records that have a move

  add({ score, ply, pieces, result, king, inCheck, move }: Facts): void {
    this.records++;
    count(this.score, score);
    count(this.ply, ply);
    count(this.pieces, pieces);
    count(this.result, result);
    this.kingSquare[king]++;
    if (inCheck) this.inCheck++;
    if (move !== undefined) this.moves[move]++;
  }
}

function count(bars: readonly HistogramBin[], value: number | undefined): void {
  if (value === undefined) return;
  const whole = Math.round(value);
  const bin = bars.find(({ from, to }) => whole >= from && whole <= to);
  if (bin) bin.count++;
}

const WIDTH = 40; // characters of the longest bar

/** A histogram as lines of text with bars; empty bins at both ends are left out. */
export function formatHistogram(title: string, bars: readonly HistogramBin[], names?: readonly string[]): string[] {
  const total = bars.reduce((sum, bar) => sum + bar.count, 0);
  if (total === 0) return [];
  const most = Math.max(...bars.map((bar) => bar.count));
  const isFull = (bar: HistogramBin) => bar.count > 0;
  const [first, last] = [bars.findIndex(isFull), bars.findLastIndex(isFull)];
  const label = ({ from, to }: HistogramBin, i: number) => names?.[i] ?? (from === to ? `${from}` : `${from} .. ${to}`);
  const labels = bars.map(label);
  const width = Math.max(...labels.slice(first, last + 1).map((text) => text.length));
  const lines = bars.map((bar, i) => {
    const share = `${((100 * bar.count) / total).toFixed(1)} %`;
    return `  ${labels[i].padStart(width)} ${share.padStart(7)} ${"#".repeat(Math.round((WIDTH * bar.count) / most))}`.trimEnd();
  });
  return [`${title} (${total} records)`, ...lines.slice(first, last + 1)];
}

/** The squares of the king as a board of percents, the eighth rank first. */
export function formatKingSquares(counts: readonly number[]): string[] {
  const total = counts.reduce((sum, each) => sum + each, 0);
  if (total === 0) return [];
  const percent = (each: number) => (each === 0 ? "." : ((100 * each) / total).toFixed(1)).padStart(6);
  const rank = (row: number) =>
    `  ${row + 1}${counts
      .slice(8 * row, 8 * row + 8)
      .map(percent)
      .join("")}`;
  const files = [..."abcdefgh"].map((file) => file.padStart(6)).join("");
  return [
    "square of the mover's king, % (Black's board turned)",
    ...Array.from({ length: 8 }, (_, i) => rank(7 - i)),
    `   ${files}`,
  ];
}
