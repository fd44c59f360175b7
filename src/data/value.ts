const SCALE = 400; // centipawns; OmegaZero's
const MATE = 31_000; // scores beyond are mates: 32000 - plies

/** A score as a value, -1..1: tanh(cp / 400), a mate +-1. */
export const scoreValue = (scoreCp: number): number =>
  scoreCp > MATE ? 1 : scoreCp < -MATE ? -1 : Math.tanh(scoreCp / SCALE);
