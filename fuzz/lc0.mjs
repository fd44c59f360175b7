import assert from "node:assert/strict";
import { UserError } from "#base";
import { readLc0 } from "#formats";

const varint = (value) => {
  const bytes = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return [...bytes, value];
};
const message = (field, content) => [...varint(field * 8 + 2), ...varint(content.length), ...content];

/** A network of one channel, no block, a convolutional policy and win, draw and loss. */
export function tinyFile() {
  const layer = (field, count) =>
    message(field, [0x0d, 0, 0, 0x80, 0xbf, 0x15, 0, 0, 0x80, 0x3f, ...message(3, Array.from({ length: 2 * count }, (_, i) => i & 255))]); // biome-ignore format: -1 to 1
  const formats = [8, 1, 16, 2, 24, 4, 32, 2, 40, 2];
  const weights = [
    message(1, [...layer(1, 112 * 9), ...layer(3, 1), ...layer(4, 1)]),
    message(11, layer(1, 9)),
    message(3, [...layer(1, 720), ...layer(2, 80)]),
    message(6, layer(1, 1)),
    layer(7, 128),
    layer(8, 2),
    layer(9, 6),
    layer(10, 3),
  ].flat();
  return Uint8Array.from([0x0d, 0xc0, 1, 0, 0, ...message(4, [8, 1, ...message(2, formats)]), ...message(10, weights)]);
}

/** Any bytes are refused by a UserError, or give a network whose layers fit each other and are no larger than the file. */
export function create(random) {
  const whole = tinyFile();
  return {
    next() {
      const bytes = whole.slice(0, random.below(10) === 0 ? random.below(whole.length) : whole.length);
      for (let left = 1 + random.below(4); left > 0; left--) {
        // Mostly where the names and lengths are: at the beginning, or just before a layer.
        const at =
          random.below(3) === 0 ? random.below(bytes.length + 1) : random.below(Math.min(bytes.length, 64) + 1);
        bytes[at] = random.below(2) === 0 ? random.below(256) : bytes[at] ^ (1 << random.below(8));
      }
      return Buffer.from(bytes).toString("latin1");
    },
    check(text) {
      const bytes = Uint8Array.from(Buffer.from(text, "latin1"));
      let weights;
      try {
        weights = readLc0(bytes, "x.pb");
      } catch (error) {
        if (!(error instanceof UserError && error.code.startsWith("LC0_"))) throw error;
        return false;
      }
      const { input, policy, value, width } = weights;
      assert.equal(input.weights.length, width * 112 * 9);
      assert.equal(value.hidden.weights.length, value.hidden.biases.length * 64 * value.narrow.biases.length);
      assert.ok((policy.planes ?? policy.moves).weights.length <= bytes.length);
      return true;
    },
  };
}
