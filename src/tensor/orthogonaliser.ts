/** Newton-Schulz iteration: matrices with their singular values brought near 1, many at once, by ONNX Runtime. */
import { type Runtime, runtimeFillsOutputs } from "#base";
import { input, type Tensor } from "./graph.js";
import { Emitter } from "./onnx/emit.js";
import { writeOnnx } from "./onnx/model.js";
import type { Matrix } from "./optimisers/optimiser.js";
import { createSession, type RuntimeSession, runInto, STOP, tensorOf } from "./runner.js";
import type { SessionOptions } from "./session.js";

/** Matrices in memory, one after another. */
export interface MatrixArray {
  name: string;
  matrix: Matrix;
  address: number;
}

// Jordan's: they raise small singular values fastest, and leave all between 0.7 and 1.2 after five rounds.
const [A, B, C] = [3.4445, -4.775, 2.0315];
const ROUNDS = 5;

const shapeOf = ({ count, rows, columns }: Matrix): number[] => [count, rows, columns];

/** [count, rows, columns] -> the same */
export function orthogonalised(matrices: Tensor): Tensor {
  const [, rows, columns] = matrices.shape as readonly number[];
  const turned = rows > columns; // the product with itself is smaller on the narrow side
  let x = turned ? matrices.transpose([0, 2, 1]) : matrices;
  x = x.div(x.mul(x).sum([1, 2], { keep: true }).sqrt().add(1e-7));
  for (let round = 0; round < ROUNDS; round++) {
    const gram = x.matmul(x, { transB: true });
    x = x.mul(A).add(gram.mul(B).add(gram.matmul(gram).mul(C)).matmul(x));
  }
  return turned ? x.transpose([0, 2, 1]) : x;
}

export class Orthogonaliser {
  private views: Record<"feeds" | "fetches", Record<string, unknown>> = { feeds: {}, fetches: {} };
  private buffer: ArrayBufferLike | undefined; // the memory that the views point into

  private constructor(
    private readonly arrays: readonly MatrixArray[],
    private readonly runtime: Runtime,
    private readonly session: RuntimeSession,
  ) {}

  static async open(arrays: readonly MatrixArray[], options: SessionOptions): Promise<Orthogonaliser> {
    const results = Object.fromEntries(
      arrays.map(({ name, matrix }) => [resultOf(name), orthogonalised(input(name, shapeOf(matrix)))]),
    );
    const model = new Emitter("inference").finish(results, runtimeFillsOutputs ? STOP : undefined);
    const { runtime, session } = await createSession(writeOnnx(model), options, "basic");
    return new Orthogonaliser(arrays, runtime, session);
  }

  /** Replaces the matrices in this memory. */
  async run(memory: ArrayBuffer): Promise<void> {
    if (this.buffer !== memory) {
      this.buffer = memory;
      this.views = { feeds: {}, fetches: {} };
      for (const { name, matrix, address } of this.arrays) {
        const shape = shapeOf(matrix);
        const floats = new Float32Array(memory, address, matrix.count * matrix.rows * matrix.columns);
        const view = tensorOf(this.runtime, "float32", floats, shape);
        this.views.feeds[name] = view;
        this.views.fetches[resultOf(name)] = view;
      }
    }
    await runInto(this.session, this.views.feeds, this.views.fetches);
  }
}

const resultOf = (name: string): string => `orthogonal:${name}`;
