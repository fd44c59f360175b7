import type { Op } from "../graph.js";
import { array64 } from "../reference.js";
import { lines } from "./reduce.js";

function logSoftmax(line: readonly number[]): number[] {
  const top = Math.max(...line);
  const sum = Math.log(line.reduce((total, x) => total + Math.exp(x - top), 0));
  return line.map((x) => x - top - sum);
}

/** Along the last axis. */
export const SOFTMAX = {
  softmax: {
    infer: ([x]) => x,
    gradient({ outputs: [y] }, [dy]) {
      const product = dy!.mul(y);
      return [product.sub(y.mul(product.sum(-1, { keep: true })))];
    },
    emit: (_, [x], emitter) => emitter.add("Softmax", [x], { axis: -1 }),
    evaluate: (_, [x]) =>
      array64(
        x.shape,
        lines(x, x.shape.at(-1)!).flatMap((line) => logSoftmax(line).map(Math.exp)),
      ),
  },
  logSoftmax: {
    infer: ([x]) => x,
    gradient: ({ outputs: [y] }, [dy]) => [dy!.sub(y.exp().mul(dy!.sum(-1, { keep: true })))],
    emit: (_, [x], emitter) => emitter.add("LogSoftmax", [x], { axis: -1 }),
    evaluate: (_, [x]) => array64(x.shape, lines(x, x.shape.at(-1)!).flatMap(logSoftmax)),
  },
} satisfies Record<string, Op>;
