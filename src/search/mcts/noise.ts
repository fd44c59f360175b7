import type { Random } from "#base";

/** A draw from the gamma distribution of scale 1 (Marsaglia and Tsang 2000). */
function gamma(shape: number, random: Random): number {
  if (shape < 1) return gamma(shape + 1, random) * (1 - random.next()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = random.normal();
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random.next()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Shares that add up to 1, drawn from the symmetric Dirichlet distribution: the smaller `alpha`, the fewer get nearly all. */
export function drawDirichlet(count: number, alpha: number, random: Random): number[] {
  const draws = Array.from({ length: count }, () => gamma(alpha, random));
  const sum = draws.reduce((a, b) => a + b, 0);
  return sum > 0 ? draws.map((draw) => draw / sum) : draws.map(() => 1 / count);
}
