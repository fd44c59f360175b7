import { suggestion, UserError } from "#base";

/** A file to learn from, and its part in the mix. */
export interface DataSource {
  path: string;
  weight?: number; // in the mix, against the other files'; by default its number of records
  resultShare?: number; // how much of the value is the game's result instead of the score, if not as in the recipe
  player?: string; // of games: only this player's moves are learnt
  heldOut?: number; // of games: the share of them that is not learnt from but judged by, where the same file is named
}

const SHARE = { largest: 1, expected: "a number from 0 to 1" };
const SETTINGS = {
  weight: { largest: Number.POSITIVE_INFINITY, expected: "a number from 0" },
  resultShare: SHARE,
  heldOut: SHARE,
} as const;
type NumberSetting = keyof typeof SETTINGS;

const isNumberSetting = (name: string): name is NumberSetting => Object.hasOwn(SETTINGS, name);

/** Reads `FILE` or `FILE?weight=2&resultShare=1`; names of players are percent-encoded where they hold a sign of this. */
export function parseSource(text: string): DataSource {
  const match = /^(.*)\?((?:\w+=[^&=?]*)(?:&\w+=[^&=?]*)*)$/.exec(text);
  if (!match) return { path: text };
  const source: DataSource = { path: match[1] };
  for (const part of match[2].split("&")) {
    const [name, value] = part.split("=");
    if (name === "player") {
      source.player = decodeName(value, text);
      continue;
    }
    if (!isNumberSetting(name)) {
      const known = [...Object.keys(SETTINGS), "player"];
      throw new UserError(
        "DATA_SETTING",
        `${text}: a file has no setting "${name}".${suggestion(name, known)}\nIt has: ${known.join(", ")}.`,
      );
    }
    const { largest, expected } = SETTINGS[name];
    const number = value === "" ? Number.NaN : Number(value);
    if (!(number >= 0 && number <= largest))
      throw new UserError("DATA_SETTING", `${text}: ${name} is "${value}", expected ${expected}.`);
    source[name] = number;
  }
  return source;
}

function decodeName(value: string, text: string): string {
  try {
    const name = decodeURIComponent(value).trim();
    if (name !== "") return name;
  } catch {
    // said below
  }
  throw new UserError("DATA_SETTING", `${text}: player is "${value}", expected a name (a % in it is written %25).`);
}

/** The text that `parseSource` reads as this. */
export function formatSource({ path, player, ...numbers }: DataSource): string {
  const settings = [
    ...(player === undefined ? [] : [`player=${encodeURIComponent(player)}`]),
    ...Object.entries(numbers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`])),
  ];
  return settings.length === 0 ? path : `${path}?${settings.join("&")}`;
}
