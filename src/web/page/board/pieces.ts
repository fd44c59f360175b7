// Piece sets of our own, drawn here (licence of the project); cburnett comes with chessground. A set is a style sheet made
// when the page starts: one drawing for each role serves both colours.
import { COLORS, type Color, ROLES, type Role } from "#chess";

const FOOT = "M11 40.5v-2.5a3 3 0 013-3h17a3 3 0 013 3v2.5z";

/** Outlines on 45 by 45 points, and what is drawn on them in the other colour. */
const FLAT: Record<Role, { body: string; detail: string }> = {
  pawn: {
    body: `${FOOT}M15.5 35c.5-6 3.5-8.5 4.2-13.5h-3.2v-2.5h3a5.7 5.7 0 116 0h3v2.5h-3.2c.7 5 3.7 7.5 4.2 13.5z`,
    detail: "",
  },
  knight: {
    body: `${FOOT}M13 35c0-7.5 8.5-9.5 8.5-15.5-1.8 1.9-3.7 2.7-6 3.1l-1.9 2.6c-.6.800-1.7 1-2.5.500l-2-1.3c-.9-.5-1.2-1.6-.8-2.5l4.9-9.6c.5-2 .2-4.2-.7-6.3 2.5.500 4.4 1.7 5.6 3.2 1-.3 2-.4 3-.4 8.7 0 12.9 8.2 12.9 16.7 0 4-.5 7-1 9.5z`,
    detail: "M16.3 14.8h.1M28.5 13.5c2.5 3.5 3 8 2.5 13",
  },
  bishop: {
    body: `${FOOT}M20.3 8.5a2.6 2.6 0 114.4 0c4.8 3.5 7.3 8.3 7.3 12.7 0 3.3-1.5 5.3-3.5 6.8v2.5h-1l1.5 4.5h-13l1.5-4.5h-1V28c-2-1.5-3.5-3.5-3.5-6.8 0-4.4 2.5-9.2 7.3-12.7z`,
    detail: "M25.5 13.5l-4.5 6.5M17 28h11",
  },
  rook: {
    body: `${FOOT}M12 7.5h5V11h3V7.5h5V11h3V7.5h5V16l-3 3v11l2 5h-19l2-5V19l-3-3z`,
    detail: "M15.5 19h14M15.5 30h14",
  },
  queen: {
    body: `${FOOT}M14 35l-1-5.5L8.7 16a2.2 2.2 0 112.1-.8l5.3 7.1-.5-9.5a2.3 2.3 0 112.5-.3l3.3 8.9.300-10.5a2.4 2.4 0 111.6 0l.3 10.5 3.3-8.9a2.3 2.3 0 112.5.3l-.5 9.5 5.3-7.1a2.2 2.2 0 112.1.8L32 29.5 31 35z`,
    detail: "M13.3 29.7h18.4",
  },
  king: {
    body: `${FOOT}M21 10.5V8.3h-2.7V5.5H21V3h3v2.5h2.7v2.8H24v2.2a4.6 4.6 0 012.3 3.7c4.6-1.6 9.7.600 9.7 5.8 0 4.5-4 6.5-4.5 9.5l.5 5.5H13l.5-5.5C13 26.5 9 24.5 9 20c0-5.2 5.1-7.4 9.7-5.8a4.6 4.6 0 012.3-3.7z`,
    detail: "M13.5 29.5h18M22.5 18v6",
  },
};

const LETTERS: Record<Role, string> = { pawn: "P", knight: "N", bishop: "B", rook: "R", queen: "Q", king: "K" };

interface Inks {
  fill: string;
  edge: string;
  detail: string;
}
const INKS: Record<Color, Inks> = {
  white: { fill: "#fbfaf5", edge: "#2b2f36", detail: "#2b2f36" },
  black: { fill: "#343a45", edge: "#0d0f12", detail: "#e8e6df" },
};

const svg = (content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 45 45" stroke-linecap="round" stroke-linejoin="round">${content}</svg>`;

/** The drawings of our sets, by their names in the settings. */
const SETS: Record<string, (role: Role, inks: Inks) => string> = {
  flat: (role, { fill, edge, detail }) =>
    svg(
      `<path d="${FLAT[role].body}" fill="${fill}" stroke="${edge}" stroke-width="1.5"/>` +
        `<path d="${FLAT[role].detail}" fill="none" stroke="${detail}" stroke-width="${role === "knight" ? 2 : 1.4}"/>`,
    ),
  letters: (role, { fill, edge, detail }) =>
    svg(
      `<circle cx="22.5" cy="22.5" r="${role === "pawn" ? 13 : 18}" fill="${fill}" stroke="${edge}" stroke-width="2"/>` +
        `<text x="22.5" y="${role === "pawn" ? 29 : 31.5}" font-size="${role === "pawn" ? 18 : 25}" font-weight="700" font-family="system-ui,sans-serif" text-anchor="middle" fill="${detail}">${LETTERS[role]}</text>`,
    ),
};

/** A piece of one of our sets as a CSS image; undefined for the sets of the style sheets. */
export function pieceImage(set: string, color: Color, role: Role): string | undefined {
  const draw = SETS[set];
  return draw && `url("data:image/svg+xml,${encodeURIComponent(draw(role, INKS[color]))}")`;
}

/** Adds the style sheet of our sets to the document. */
export function addPieceSets(): void {
  const rules = Object.keys(SETS).flatMap((set) =>
    COLORS.flatMap((color) =>
      ROLES.map(
        (role) =>
          `[data-pieces="${set}"] .cg-wrap:not(.sample) piece.${color}.${role}{background-image:${pieceImage(set, color, role)}}`,
      ),
    ),
  );
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules.join("\n"));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
