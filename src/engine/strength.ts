/** How a weaker player is made: it sees fewer positions, and errs in them, most where much is won or lost. */
export interface Strength {
  nodes: number; // a move
  noiseCp: number; // evaluations are wrong by up to so much
}

/** Measured by matches; docs/strength.md says how. Between two levels both numbers are interpolated. */
const LEVELS: readonly (Strength & { elo: number })[] = [
  { elo: 500, nodes: 25, noiseCp: 550 },
  { elo: 815, nodes: 35, noiseCp: 350 },
  { elo: 1100, nodes: 75, noiseCp: 250 },
  { elo: 1535, nodes: 160, noiseCp: 200 },
  { elo: 1900, nodes: 600, noiseCp: 120 },
  { elo: 2265, nodes: 2200, noiseCp: 70 },
  { elo: 2745, nodes: 8000, noiseCp: 30 },
];

/** The lowest and the highest Elo that a player can be limited to. */
export const ELO_RANGE = { min: LEVELS[0].elo, max: LEVELS[LEVELS.length - 1].elo } as const;

/** The limits that make a player of this Elo, which lies in ELO_RANGE. */
export function strengthOf(elo: number): Strength {
  const at = Math.min(
    LEVELS.length - 2,
    Math.max(
      0,
      LEVELS.findLastIndex((level) => level.elo <= elo),
    ),
  );
  const [below, above] = [LEVELS[at], LEVELS[at + 1]];
  const share = (elo - below.elo) / (above.elo - below.elo);
  return {
    nodes: Math.round(below.nodes * (above.nodes / below.nodes) ** share),
    noiseCp: Math.round(below.noiseCp + (above.noiseCp - below.noiseCp) * share),
  };
}
