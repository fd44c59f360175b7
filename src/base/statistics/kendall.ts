/**
 * Kendall's tau-b of two rankings of the same things (Kendall 1945): 1 if they agree about every pair, -1 if about none,
 * with room for ties. Undefined if either ranks nothing above anything else.
 */
export function kendallTau(a: ArrayLike<number>, b: ArrayLike<number>): number | undefined {
  let agreement = 0;
  let [untiedA, untiedB] = [0, 0]; // pairs that differ
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < i; j++) {
      const [x, y] = [Math.sign(a[i] - a[j]), Math.sign(b[i] - b[j])];
      agreement += x * y;
      untiedA += x * x;
      untiedB += y * y;
    }
  }
  return untiedA === 0 || untiedB === 0 ? undefined : agreement / Math.sqrt(untiedA * untiedB);
}
