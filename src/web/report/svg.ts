// Pictures for a page that stands alone: curves, calibration and boards as SVG.
import { type Position, parseSquare, type Square } from "#chess";
import { formatValue } from "./curves.js";

export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

export interface Series {
  label: string;
  color: string;
  points: readonly (readonly [x: number, y: number])[];
  isDashed?: boolean; // and with its points marked: few measurements
  isFaint?: boolean;
}

const [WIDTH, HEIGHT] = [420, 250];
const EDGE = { left: 50, right: 12, top: 10, bottom: 34 };

/** Round numbers that divide a range into some four parts. */
export function ticks(low: number, high: number): number[] {
  const rough = (high - low) / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * unit).find((each) => each >= rough) ?? rough;
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Curves over a common axis. `diagonal` draws the line on which both axes are equal. */
export function drawChart(
  series: readonly Series[],
  { title, xLabel, diagonal = false }: { title: string; xLabel: string; diagonal?: boolean },
): string {
  const points = series.flatMap((each) => each.points);
  const boundsOf = (values: number[]) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return low === high ? [low - Math.abs(low || 1) / 2, high + Math.abs(high || 1) / 2] : [low, high];
  };
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [xLow, xHigh] = boundsOf(diagonal ? [...xs, ...ys] : [0, ...xs]);
  const [yLow, yHigh] = boundsOf(diagonal ? [...xs, ...ys] : ys);
  const atX = (x: number) => EDGE.left + ((x - xLow) / (xHigh - xLow)) * (WIDTH - EDGE.left - EDGE.right);
  const atY = (y: number) => HEIGHT - EDGE.bottom - ((y - yLow) / (yHigh - yLow)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const round = (value: number) => value.toFixed(1);

  const grid = [
    ...ticks(yLow, yHigh).map((y) => {
      const text = `<text x="${EDGE.left - 6}" y="${round(atY(y) + 4)}" text-anchor="end">${formatValue(y)}</text>`;
      return `<line x1="${EDGE.left}" x2="${WIDTH - EDGE.right}" y1="${round(atY(y))}" y2="${round(atY(y))}"/>${text}`;
    }),
    ...ticks(xLow, xHigh).map((x) => {
      const text = `<text x="${round(atX(x))}" y="${HEIGHT - EDGE.bottom + 15}" text-anchor="middle">${formatValue(x)}</text>`;
      return `<line x1="${round(atX(x))}" x2="${round(atX(x))}" y1="${EDGE.top}" y2="${HEIGHT - EDGE.bottom}"/>${text}`;
    }),
  ];
  const equal = diagonal
    ? `<line class="equal" x1="${atX(xLow)}" y1="${atY(xLow)}" x2="${atX(xHigh)}" y2="${atY(xHigh)}"/>`
    : "";
  const lines = series.map(({ color, points: own, isDashed, isFaint, label }) => {
    const path = own.map(([x, y]) => `${round(atX(x))},${round(atY(y))}`).join(" ");
    const dots = isDashed
      ? own.map(([x, y]) => `<circle cx="${round(atX(x))}" cy="${round(atY(y))}" r="2.5" fill="${color}"><title>${escaped(label)}: ${formatValue(y)} at ${formatValue(x)}</title></circle>`) // biome-ignore format: one thing
      : [];
    return `<polyline points="${path}" stroke="${color}"${isDashed ? ' stroke-dasharray="6 4"' : ""}${isFaint ? ' opacity="0.35" stroke-width="1"' : ""}/>${dots.join("")}`;
  });
  const label = `<text x="${(EDGE.left + WIDTH - EDGE.right) / 2}" y="${HEIGHT - 4}" text-anchor="middle">${escaped(xLabel)}</text>`;
  return `<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(title)}"><g class="grid">${grid.join("")}</g>${equal}${lines.join("")}${label}</svg>`;
}

// Our own pieces, drawn in a box of 45 units.
const SHAPES = {
  pawn: '<circle cx="22.5" cy="14" r="6"/><path d="M14 39H31V35C31 31 27 29 26 22H28V19H17V22H19C18 29 14 31 14 35Z"/>',
  knight:
    '<path d="M14 39H35C35 28 34 20 29 14C27 11.5 24 10 21.5 9.5L20 5.5L17 10C14 14 10.5 18 8.5 23C7.5 26 9.5 28.5 12 28.5C15 28.5 16 25 20.5 24.5C20.5 29 14.5 31 14 39Z"/><circle class="eye" cx="18" cy="16" r="1.4"/>',
  bishop:
    '<circle cx="22.5" cy="8" r="2.6"/><path d="M22.5 11C16 16 13 21.5 14 27C15 30 17 31 17.5 34H27.5C28 31 30 30 31 27C32 21.5 29 16 22.5 11Z"/><path d="M11 39H34V35H11Z"/><path class="line" d="M22.5 17V25M19 20.5H26"/>',
  rook: '<path d="M11 39H34V35H31.5L30 20H33V9H28.5V12.5H25V9H20V12.5H16.5V9H12V20H15L13.5 35H11Z"/>',
  queen:
    '<path d="M9 14L14 31H31L36 14L29 24L27.5 10L22.5 23L17.5 10L16 24Z"/><path d="M13 39H32V34H13Z"/><circle cx="9" cy="12.5" r="2.4"/><circle cx="17.5" cy="8.5" r="2.4"/><circle cx="27.5" cy="8.5" r="2.4"/><circle cx="36" cy="12.5" r="2.4"/>',
  king: '<path class="line" d="M22.5 4.5V13M18.5 8H26.5"/><path d="M22.5 12C18.5 12 18 17 20 21.5C15 16 8 18 9 24C9.5 29 13 30.5 14 34H31C32 30.5 35.5 29 36 24C37 18 30 16 25 21.5C27 17 26.5 12 22.5 12Z"/><path d="M13 39H32V35H13Z"/>',
} as const;

/** The pieces, to be put into a page once; boards refer to them. */
export const pieceSymbols = (): string =>
  `<svg width="0" height="0" style="position:absolute" aria-hidden="true">${Object.entries(SHAPES)
    .map(([role, shape]) => `<symbol id="${role}" viewBox="0 0 45 45">${shape}</symbol>`)
    .join("")}</svg>`;

export interface BoardMarks {
  squares?: string; // a move in UCI whose squares are tinted: the data's
  arrow?: string; // a move in UCI: the network's
}

/** A position, with the side to move at the bottom. */
export function drawBoard(position: Position, { squares = "", arrow = "" }: BoardMarks): string {
  const isTurned = position.turn === "black";
  const place = (square: Square) => {
    const [file, rank] = [square & 7, square >> 3];
    return isTurned ? [7 - file, rank] : [file, 7 - rank];
  };
  const ends = (uci: string) =>
    [uci.slice(0, 2), uci.slice(2, 4)].flatMap((text) => {
      const square = parseSquare(text);
      return square === undefined ? [] : [place(square)];
    });
  const dark = Array.from({ length: 64 }, (_, square) => place(square as Square))
    .filter((_, square) => ((square >> 3) + (square & 7)) % 2 === 0)
    .map(([x, y]) => `M${x} ${y}h1v1h-1z`);
  const tinted = ends(squares).map(([x, y]) => `<rect class="marked" x="${x}" y="${y}" width="1" height="1"/>`);
  const pieces = [...position.pieces()].map(({ square, role, color }) => {
    const [x, y] = place(square);
    return `<use href="#${role}" class="${color}" x="${x}" y="${y}" width="1" height="1"/>`;
  });
  const [from, to] = ends(arrow);
  const line = to ? `<path class="arrow" d="M${from[0] + 0.5} ${from[1] + 0.5}L${to[0] + 0.5} ${to[1] + 0.5}"/><circle class="head" cx="${to[0] + 0.5}" cy="${to[1] + 0.5}" r="0.2"/>` : ""; // biome-ignore format: one thing
  return `<svg class="board" viewBox="0 0 8 8" aria-hidden="true"><rect class="light" width="8" height="8"/><path class="dark" d="${dark.join("")}"/>${tinted.join("")}${pieces.join("")}${line}</svg>`;
}
