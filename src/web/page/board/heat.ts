// Numbers on the squares of a board, as text and as colour.
import type { DrawShape } from "@lichess-org/chessground/draw";
import type { Key } from "@lichess-org/chessground/types";
import type { BySquare } from "../minds/inspect.js";

/** What each piece is worth, in pawns, at the foot of its square; good for White is green, for Black red. */
export function worthShapes(worth: BySquare): DrawShape[] {
  return Object.entries(worth).map(([square, cp]) => {
    const text = `${cp > 0 ? "+" : ""}${(cp / 100).toFixed(1)}`;
    const fill = cp > 0 ? "#1d7a50" : "#a8342a";
    return {
      orig: square as Key,
      customSvg: {
        html: `<rect x="18" y="70" width="64" height="27" rx="8" fill="${fill}" fill-opacity=".92"/><text x="50" y="90" font-size="21" font-weight="600" text-anchor="middle" fill="#fff" font-family="sans-serif">${text}</text>`,
      },
    };
  });
}

/** Squares coloured between the lowest and the highest number: blue is low, orange high. */
export function heatShapes(values: BySquare): DrawShape[] {
  const numbers = Object.values(values);
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return Object.entries(values).map(([square, value]) => {
    const place = high > low ? (value - low) / (high - low) : 0.5;
    const [fill, opacity] = place < 0.5 ? ["#2457c5", 0.75 - place * 1.3] : ["#e8650a", (place - 0.5) * 1.5 + 0.1];
    return {
      orig: square as Key,
      below: true,
      customSvg: { html: `<rect width="100" height="100" fill="${fill}" fill-opacity="${opacity.toFixed(2)}"/>` },
    };
  });
}

/** Squares as dark as their shares; they need not add up to 1. */
export function shareShapes(shares: readonly number[], fill: string): DrawShape[] {
  const most = Math.max(...shares, 1e-9);
  return shares.map((share, i) => ({
    orig: squareName(i),
    below: true,
    customSvg: {
      html: `<rect width="100" height="100" fill="${fill}" fill-opacity="${((share / most) * 0.85).toFixed(2)}"/>`,
    },
  }));
}

/** Squares in the colour of their likeliest expert. */
export function expertShapes(shares: readonly (readonly number[])[]): DrawShape[] {
  return shares.map((row, i) => {
    const best = row.indexOf(Math.max(...row));
    return {
      orig: squareName(i),
      below: true,
      customSvg: {
        html: `<rect width="100" height="100" fill="${expertColor(best)}" fill-opacity="${(0.25 + 0.7 * row[best]).toFixed(2)}"/>`,
      },
    };
  });
}

export const expertColor = (expert: number): string => `hsl(${(expert * 137.5 + 20) % 360} 65% 48%)`;

/** The name of a square counted from a8 to h1. */
const squareName = (i: number): Key => `${"abcdefgh"[i & 7]}${8 - (i >> 3)}` as Key;
