import { suggestion, UserError } from "#base";

/** A file to learn from, and its part in the mix. */
export interface DataSource {
  path: string;
  weight?: number; // in the mix, against the other files'; by default its number of records
  resultShare?: number; // how much of the value is the game's result instead of the score, if not as in the recipe
}

const SETTINGS = { weight: Number.POSITIVE_INFINITY, resultShare: 1 }; // with the largest value of each

/** Reads `FILE` or `FILE?weight=2&resultShare=1`. */
export function parseSource(text: string): DataSource {
  const match = /^(.*)\?((?:\w+=[^&=?]*)(?:&\w+=[^&=?]*)*)$/.exec(text);
  if (!match) return { path: text };
  const source: DataSource = { path: match[1] };
  for (const part of match[2].split("&")) {
    const [name, value] = part.split("=") as [keyof typeof SETTINGS, string];
    if (!Object.hasOwn(SETTINGS, name)) {
      const known = Object.keys(SETTINGS);
      throw new UserError(
        "DATA_SETTING",
        `${text}: a file has no setting "${name}".${suggestion(name, known)}\nIt has: ${known.join(", ")}.`,
      );
    }
    const number = value === "" ? Number.NaN : Number(value);
    if (!(number >= 0 && number <= SETTINGS[name])) {
      const range = Number.isFinite(SETTINGS[name]) ? `from 0 to ${SETTINGS[name]}` : "from 0";
      throw new UserError("DATA_SETTING", `${text}: ${name} is "${value}", expected a number ${range}.`);
    }
    source[name] = number;
  }
  return source;
}
