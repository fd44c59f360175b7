// Seeded mutations of texts: small damage to valid inputs finds what noise alone never reaches.

const CHARS = [..."0123456789abcdefghxNBRQKOPknbrqp-+#=!?.*/\\\"'()[]{}<>;:%$,_ \t\n\r\0\u007f\u00e9\u20ac"];

/** A text made from a corpus: one change to an entry, or up to six, a mix of two, or once in a while pure noise. */
export function mutate(random, corpus, words) {
  if (random.below(50) === 0) return noise(random);
  let text = random.pick(corpus);
  if (random.below(8) === 0) {
    const other = random.pick(corpus);
    text = text.slice(0, random.below(text.length + 1)) + other.slice(random.below(other.length + 1));
  }
  for (let left = 1 + random.below(random.below(3) === 0 ? 6 : 1); left > 0; left--) text = change(random, text, words);
  return text;
}

function noise(random) {
  return Array.from({ length: random.below(200) }, () =>
    random.below(3) === 0 ? random.pick(CHARS) : String.fromCharCode(random.below(256)),
  ).join("");
}

function change(random, text, words) {
  const at = random.below(text.length + 1);
  const end = Math.min(text.length, at + 1 + random.below(random.below(4) === 0 ? 40 : 3));
  const [before, part, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)];
  switch (random.below(7)) {
    case 0:
      return before + after;
    case 1:
      return before + part + part + after;
    case 2:
      return before + random.pick(CHARS) + part + after;
    case 3:
      return before + random.pick(CHARS) + text.slice(at + 1);
    case 4:
      return before + random.pick(words) + part + after;
    case 5: {
      const to = random.below(before.length + 1);
      return before.slice(0, to) + part + before.slice(to) + after;
    }
    default:
      return before + String.fromCharCode(random.below(256)) + text.slice(at + 1);
  }
}
