// Seeded mutations of files of bytes. Lengths and counts are what readers trust, so numbers of extreme size are common.

const NUMBERS = [0, 1, 2, 3, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

/** A file made from a corpus: one change to an entry, or up to six, a mix of two, or once in a while pure noise. */
export function mutateBytes(random, corpus) {
  if (random.below(50) === 0) return Uint8Array.from({ length: random.below(200) }, () => random.below(256));
  let bytes = random.pick(corpus).slice();
  if (random.below(10) === 0) bytes = splice(random, bytes, random.pick(corpus));
  for (let left = 1 + random.below(random.below(3) === 0 ? 6 : 1); left > 0; left--) bytes = change(random, bytes);
  return bytes;
}

const join = (...parts) => new Uint8Array(Buffer.concat(parts));

const splice = (random, bytes, other) =>
  join(bytes.subarray(0, random.below(bytes.length + 1)), other.subarray(random.below(other.length + 1)));

/** Anywhere, but every other time where headers and footers are. */
function place(random, length) {
  const near = Math.min(length, 160);
  return [random.below(length), random.below(length), random.below(near), length - 1 - random.below(near)][
    random.below(4)
  ];
}

function change(random, bytes) {
  if (bytes.length === 0) return Uint8Array.of(random.below(256));
  const at = place(random, bytes.length);
  const end = Math.min(bytes.length, at + 1 + random.below(random.below(4) === 0 ? 64 : 4));
  switch (random.below(8)) {
    case 0:
      return bytes.slice(0, at);
    case 1:
      return join(bytes.subarray(0, at), bytes.subarray(end));
    case 2:
      return join(bytes.subarray(0, end), bytes.subarray(at));
    case 3:
      bytes[at] = random.below(256);
      return bytes;
    case 4: {
      const value = random.pick(NUMBERS);
      const size = random.pick([1, 2, 4, 8]);
      for (let i = 0; i < size && at + i < bytes.length; i++) bytes[at + i] = i < 4 ? value >>> (8 * i) : 0;
      return bytes;
    }
    case 5:
      bytes.fill(random.pick([0, 0xff, 0x80]), at, end);
      return bytes;
    default:
      bytes[at] ^= 1 << random.below(8);
      return bytes;
  }
}
