import { apply, constant, type Op, type Tensor } from "../graph.js";
import { at, fill } from "../reference.js";

/**
 * Rotary positions (Su et al. 2021): x [t, n, heads * width] with each head's halves turned by the angles of its
 * place, given as cosines and sines [t, width / 2].
 */
export const rotary = (x: Tensor, cosines: Tensor, sines: Tensor, heads: number): Tensor =>
  apply("rotary", [x, cosines, sines], { heads });

/** Cosines and sines for places 0 .. length-1. */
export function rotaryTables(length: number, width: number, base = 10000): { cosines: Tensor; sines: Tensor } {
  const half = width / 2;
  const angles = Array.from({ length: length * half }, (_, i) => Math.floor(i / half) * base ** (-(i % half) / half));
  return {
    cosines: constant(angles.map(Math.cos), [length, half]),
    sines: constant(angles.map(Math.sin), [length, half]),
  };
}

export const ROTARY = {
  rotary: {
    infer([x, cosines], { heads }, fail) {
      const half = cosines.dim(1) as number;
      if (x.shape.length !== 3 || x.dim(2) !== half * 2 * (heads as number) || x.dim(0) !== cosines.dim(0)) {
        fail(`needs [t, n, ${heads} heads * width] and angles [t, width / 2]`);
      }
      return x;
    },
    // Turning back is turning by the opposite angle.
    gradient: ({ inputs: [, cosines, sines], attributes: { heads } }, [dy]) => [
      rotary(dy!, cosines, sines.neg(), heads as number),
      undefined,
      undefined,
    ],
    emit({ inputs: [tensor, angles], attributes: { heads } }, [x, cosines, sines], emitter) {
      const [t, n] = tensor.shape;
      const half = angles.dim(1) as number;
      const stretch = (table: string) => emitter.broadcast(emitter.reshape(table, [t, 1, half]), [t, n, half]);
      emitter.requireOpset(23);
      return emitter.add("RotaryEmbedding", [x, stretch(cosines), stretch(sines)], { num_heads: heads as number });
    },
    evaluate({ attributes: { heads } }, [x, cosines, sines]) {
      const half = cosines.shape[1];
      const width = x.shape[2] / (heads as number);
      return fill(x.shape, ([t, n, c]) => {
        const place = c % width;
        const angle = place % half;
        const [cos, sin] = [at(cosines, [t, angle]), at(sines, [t, angle])];
        return place < half
          ? at(x, [t, n, c]) * cos - at(x, [t, n, c + half]) * sin
          : at(x, [t, n, c]) * cos + at(x, [t, n, c - half]) * sin;
      });
    },
  },
} satisfies Record<string, Op>;
