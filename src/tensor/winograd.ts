/**
 * 3x3 convolutions as products of matrices (Winograd's minimal filtering, by the method of Toom and Cook): with four
 * outputs a tile along each axis, 36 multiplications do the work of 144. The transforms of a whole board axis, padding
 * included, are single constant matrices.
 */
const OUTPUTS = 4;
const TAPS = 3;
const COUNT = OUTPUTS + TAPS - 1;

// The last point is infinity. Error of one convolution in 32 bits 7e-7, like a direct one's (docs/log.md).
const FINITE = [0, 0.625, -0.625, 1.25, -1.25];

/** Coefficients of the product of (x - root), lowest power first. */
function polynomial(roots: readonly number[]): number[] {
  let coefficients = [1];
  for (const root of roots) {
    const shifted = [0, ...coefficients];
    coefficients.forEach((c, i) => {
      shifted[i] -= root * c;
    });
    coefficients = shifted;
  }
  return coefficients;
}

/** Rows of values of powers: of each finite point, then of infinity. */
const powers = (size: number) => [
  ...FINITE.map((point) => Array.from({ length: size }, (_, i) => point ** i)),
  Array.from({ length: size }, (_, i) => (i === size - 1 ? 1 : 0)),
];

const OUTPUT = powers(OUTPUTS); // [point][output]
const WEIGHT = powers(TAPS).map((row, p) => {
  const others = FINITE.filter((_, i) => i !== p);
  const scale = p < FINITE.length ? others.reduce((product, other) => product * (FINITE[p] - other), 1) : 1;
  return row.map((value) => value / scale);
}); // [point][tap]
const INPUT = [...FINITE.map((_, p) => [...polynomial(FINITE.filter((_, i) => i !== p)), 0]), polynomial(FINITE)]; // [point][input]

export interface AxisTransforms {
  tiles: number;
  points: number; // per tile
  input: Float32Array; // [points * tiles, size]
  output: Float32Array; // [size, points * tiles]
}

/** The transforms along an axis of a board; rows and columns of transformed values run over points, then tiles. */
export function axisTransforms(size: number): AxisTransforms {
  const tiles = Math.ceil(size / OUTPUTS);
  const input = new Float32Array(COUNT * tiles * size);
  const output = new Float32Array(size * COUNT * tiles);
  for (let point = 0; point < COUNT; point++) {
    for (let tile = 0; tile < tiles; tile++) {
      const row = point * tiles + tile;
      for (let i = 0; i < COUNT; i++) {
        const place = tile * OUTPUTS + i - 1; // the padding of 1
        if (place >= 0 && place < size) input[row * size + place] = INPUT[point][i];
      }
      for (let i = 0; i < OUTPUTS; i++) {
        const place = tile * OUTPUTS + i;
        if (place < size) output[place * COUNT * tiles + row] = OUTPUT[point][i];
      }
    }
  }
  return { tiles, points: COUNT, input, output };
}

/** [points * points, 9]: the transform of a filter along both axes. */
export const WEIGHT_TRANSFORM = Float32Array.from(
  WEIGHT.flatMap((rowY) => WEIGHT.flatMap((rowX) => rowY.flatMap((y) => rowX.map((x) => y * x)))),
);
