import assert from "node:assert/strict";
import { test } from "vitest";
import { Random } from "#base";
import { FEN_TOKENS } from "#encodings";
import { input, type Tensor } from "#tensor";
import { FAMILIES } from "./families.js";
import { LC0 } from "./lc0.js";
import { MOE_SIZES, Moe } from "./moe.js";
import { BOARDS, RESIDUAL_SIZES, Residual, type ResidualConfig } from "./residual.js";

const sizeOf = (shape: readonly (number | string)[]): number =>
  shape.reduce<number>((product, dim) => product * Number(dim), 1);

/** Products that the graph behind some tensors adds up, by the shapes of its matrices and convolutions. */
function countProducts(results: readonly Tensor[]): number {
  const seen = new Set<number>();
  let sum = 0;
  const visit = ({ node }: Tensor) => {
    if (seen.has(node.id)) return;
    seen.add(node.id);
    for (const each of node.inputs) visit(each);
    const [a, b] = node.inputs;
    const products = sizeOf(node.outputs[0].shape);
    if (node.op === "conv3x3") sum += products * 9 * Number(b.dim(2));
    else if (/matmul/i.test(node.op)) sum += products * Number(a.dim(node.attributes.transA ? -2 : -1));
  };
  for (const result of results) visit(result);
  return sum;
}

const RESIDUALS: [string, ResidualConfig][] = [
  ["tiny", RESIDUAL_SIZES.tiny],
  ["a dense policy, tanh, squeezed", { ...RESIDUAL_SIZES.published, width: 8, blocks: 1, headWidth: 4, squeeze: 4 }],
];
for (const [name, config] of RESIDUALS) {
  test(`residual, ${name}: multiply-adds are those of the graph`, () => {
    const { policy, value } = new Residual(config, new Random(1)).forward(
      input("planes", [1, BOARDS[config.board].planes, 8, 8]),
    );
    assert.equal(FAMILIES.residual.multiplyAdds(config), countProducts([policy, value]));
  });
}

test("moe: multiply-adds are those of the graph for 35 moves, with queries linked and heads that see like pieces", () => {
  for (const extra of [{}, { linked: true }, { pieceHeads: 2 }]) {
    const config = { ...MOE_SIZES.tiny, experts: 0, ...extra };
    const tokens = input("tokens", [1, FEN_TOKENS], "int32");
    const { logits } = new Moe(config, new Random(1)).forward(tokens, input("actions", [1, 35], "int32"));
    assert.equal(FAMILIES.moe.multiplyAdds(config), countProducts([logits]));
  }
});

test("lc0: multiply-adds are those of the graph", () => {
  const heads = { policyWidth: 8, valueWidth: 4, valueHidden: 16 } as const;
  const trunk = { width: 8, blocks: 2, squeeze: 4, activation: "relu" } as const;
  for (const [policyHead, valueHead] of [
    ["classical", "wdl"],
    ["convolution", "classical"],
  ] as const) {
    // biome-ignore format: pairs
    const config = { ...trunk, ...heads, policyHead, valueHead };
    const { policy, value } = LC0.build(config, new Random(1)).forward(input("planes", [1, 112, 8, 8]));
    assert.equal(LC0.multiplyAdds(config), countProducts([policy, value]));
  }
});

test("nnue: 32 pieces for both sides and the output; a wider network costs as much more", () => {
  const { tiny, base, halfkp } = FAMILIES.nnue.sizes;
  assert.equal(FAMILIES.nnue.multiplyAdds(tiny), 2 * 32 * 32 + 2 * 32);
  assert.equal(FAMILIES.nnue.multiplyAdds(base), 8 * FAMILIES.nnue.multiplyAdds(tiny));
  assert.equal(FAMILIES.nnue.multiplyAdds(halfkp), 2 * 30 * 256 + 512 * 32 + 32 * 32 + 32);
});
