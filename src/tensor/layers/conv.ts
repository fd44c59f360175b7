import type { Random } from "#base";
import { apply, type Tensor } from "../graph.js";
import { normal, type Parameter, parameter } from "../parameter.js";
import type { Tile } from "../winograd.js";

/** 3x3 with zeros around the board, [h, w, n, in] -> [h, w, n, out]. A 1x1 convolution is a `linear` there. */
export class Conv3x3 {
  readonly weight: Parameter; // [3, 3, in, out]

  constructor(
    inputs: number,
    outputs: number,
    random: Random,
    readonly tile: Tile = 4, // outputs a tile along each axis: 8 is faster on boards of 8x8, 4 more exact
  ) {
    this.weight = parameter([3, 3, inputs, outputs], normal(Math.sqrt(2 / (9 * inputs)), random)); // He et al. 2015
  }

  apply(x: Tensor): Tensor {
    return apply("conv3x3", [x, this.weight], { tile: this.tile });
  }
}
/** A convolution of 3 by 3 squares with random weights. */
export const conv3x3 = (inputs: number, outputs: number, random: Random, tile?: Tile): Conv3x3 =>
  new Conv3x3(inputs, outputs, random, tile);

/** Planes [n, c, h, w] -> square-major [h, w, n, c], the layout convolutions work in. */
export const toSquares = (planes: Tensor): Tensor => planes.transpose([2, 3, 0, 1]);

/** Square-major [h, w, n, c] -> planes [n, c, h, w]. */
export const toPlanes = (x: Tensor): Tensor => x.transpose([2, 3, 0, 1]);
