/** The error function, by its series near zero and the continued fraction of erfc beyond (Abramowitz, Stegun 7.1.6, 7.1.14). */
function erf(x: number): number {
  const z = Math.abs(x);
  const scale = (2 / Math.sqrt(Math.PI)) * Math.exp(-z * z);
  let value: number;
  if (z < 2.5) {
    let term = z;
    let sum = z;
    for (let n = 1; term > sum * 1e-17; n++) {
      term *= (2 * z * z) / (2 * n + 1);
      sum += term;
    }
    value = scale * sum;
  } else {
    let fraction = z;
    for (let n = 60; n > 0; n--) fraction = z + n / 2 / fraction;
    value = 1 - scale / 2 / fraction;
  }
  return x < 0 ? -value : value;
}

/** The share of the standard normal distribution below `x`. */
export const normalBelow = (x: number): number => (1 + erf(x / Math.SQRT2)) / 2;

/** The place below which a share, between 0 and 1, of the standard normal distribution lies: the reverse of normalBelow. */
export function normalQuantile(share: number): number {
  let [low, high] = [-40, 40];
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (normalBelow(middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Standard errors to each side that hold 95 % of a normal distribution. */
export const Z95 = 1.959963984540054;
