import type { Tensor } from "../graph.js";
import { withGradient } from "../ops/custom.js";
import { sumTo } from "../ops/elementwise.js";

/** silu(gate) * up (Shazeer 2020), with a gradient of six passes over memory instead of seven. */
export function swiglu(gate: Tensor, up: Tensor): Tensor {
  const y = gate.silu();
  return withGradient(y.mul(up), [gate, up], (dy) => {
    // silu'(x) = s + y (1 - s), s = sigmoid(x); what goes to `up` holds dy y already.
    const dUp = dy.mul(y);
    const dGate = up.mul(dUp.add(gate.sigmoid().mul(dy.sub(dUp))));
    return [sumTo(dGate, gate.shape), sumTo(dUp, up.shape)];
  });
}
