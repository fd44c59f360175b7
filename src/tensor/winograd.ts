/**
 * 3x3 convolutions as products of matrices (Winograd's minimal filtering, by the method of Toom and Cook): with four
 * outputs a tile along each axis, 36 multiplications do the work of 144; with eight, 100 that of 576. The transforms
 * of a whole board axis, padding included, are single constant matrices.
 */
const TAPS = 3;

/**
 * The points at which polynomials are multiplied, by outputs a tile; one more is infinity. Error of one convolution in
 * 32 bits: 4 outputs 7e-7, like a direct one's, 8 outputs 1.5e-5 (docs/log/tensor.md).
 */
const POINTS = {
  4: [0, 0.625, -0.625, 1.25, -1.25],
  8: [0, 0.4, -0.4, 0.8, -0.8, 1.25, -1.25, 2.5, -2.5],
} as const;

export type Tile = keyof typeof POINTS;

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

/** Rows of powers: of each finite point, then of infinity. */
const powers = (points: readonly number[], size: number) => [
  ...points.map((point) => Array.from({ length: size }, (_, i) => point ** i)),
  Array.from({ length: size }, (_, i) => (i === size - 1 ? 1 : 0)),
];

const largest = (row: readonly number[]) => Math.max(...row.map(Math.abs));

/** For one tile along one axis: output [point][output], weight [point][tap], input [point][input]. */
function tileTransforms(tile: Tile) {
  const points: readonly number[] = POINTS[tile];
  const others = (p: number) => points.filter((_, i) => i !== p);
  const weight = powers(points, TAPS).map((row, p) => {
    const scale = p < points.length ? others(p).reduce((product, other) => product * (points[p] - other), 1) : 1;
    return row.map((value) => value / scale);
  });
  const input = [...points.map((_, p) => [...polynomial(others(p)), 0]), polynomial(points)];
  // Input and weight of a point are multiplied: a factor may move from one to the other, which keeps both near 1.
  const balance = weight.map((row, p) => Math.sqrt(largest(row) / largest(input[p])));
  return {
    output: powers(points, tile),
    weight: weight.map((row, p) => row.map((value) => value / balance[p])),
    input: input.map((row, p) => row.map((value) => value * balance[p])),
  };
}

export interface AxisTransforms {
  tiles: number;
  points: number; // per tile
  input: Float32Array; // [points * tiles, size]
  output: Float32Array; // [size, points * tiles]
}

/** The transforms along an axis of a board; rows and columns of transformed values run over points, then tiles. */
export function axisTransforms(size: number, tile: Tile): AxisTransforms {
  const { input: inputs, output: outputs } = tileTransforms(tile);
  const points = inputs.length;
  const tiles = Math.ceil(size / tile);
  const input = new Float32Array(points * tiles * size);
  const output = new Float32Array(size * points * tiles);
  for (let point = 0; point < points; point++) {
    for (let t = 0; t < tiles; t++) {
      const row = point * tiles + t;
      for (let i = 0; i < points; i++) {
        const place = t * tile + i - 1; // the padding of 1
        if (place >= 0 && place < size) input[row * size + place] = inputs[point][i];
      }
      for (let i = 0; i < tile; i++) {
        const place = t * tile + i;
        if (place < size) output[place * points * tiles + row] = outputs[point][i];
      }
    }
  }
  return { tiles, points, input, output };
}

/** [points * points, 9]: the transform of a filter along both axes. */
export function weightTransform(tile: Tile): Float32Array {
  const { weight } = tileTransforms(tile);
  return Float32Array.from(weight.flatMap((y) => weight.flatMap((x) => y.flatMap((a) => x.map((b) => a * b)))));
}
