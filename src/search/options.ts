// Options are declared once, by the search or family that has them, and shown everywhere: as UCI options, behind the
// question mark of a player's name, as flags, and as controls of the page.
import { suggestion, UserError } from "#base";

interface Named {
  help: string; // one line
  uci?: string; // the name chess programs know it by; the key itself by default
}
export interface CheckOption extends Named {
  type: "check";
  default: boolean;
}
export interface NumberOption extends Named {
  type: "integer" | "number"; // UCI knows whole numbers only: a "number" is sent there as a string
  default: number;
  min: number;
  max: number;
}
export interface ChoiceOption extends Named {
  type: "choice";
  default: string;
  choices: readonly string[];
}
export interface TextOption extends Named {
  type: "text";
  default: string;
}
/** An option of a search: a flag of the command line and an option of UCI at once. */
export type Option = CheckOption | NumberOption | ChoiceOption | TextOption;

/** How evenly moves are drawn, which more than one search lets its user choose; 0 takes the best. */
export const TEMPERATURE = { type: "number", default: 0, min: 0, max: 10, uci: "Temperature" } as const;

/** Options by name, as `cpuct` or `hash`. */
export type OptionTable = Readonly<Record<string, Option>>;

type ValueOf<O extends Option> = O extends CheckOption
  ? boolean
  : O extends NumberOption
    ? number
    : O extends ChoiceOption
      ? O["choices"][number]
      : string;

/** A value for each option of a table. */
export type OptionValues<T extends OptionTable> = { -readonly [K in keyof T]: ValueOf<T[K]> };

/** The values that options have by default. */
export const defaultValues = <T extends OptionTable>(table: T): OptionValues<T> =>
  Object.fromEntries(Object.entries(table).map(([name, { default: value }]) => [name, value])) as OptionValues<T>;

/** Reads one value; `where` begins the message, as `player "nnue@ab"`. */
export function parseOptionValue(where: string, name: string, option: Option, text: string): boolean | number | string {
  const wrong = (expected: string) =>
    new UserError("OPTION_VALUE", `${where}: ${name} is "${text.slice(0, 80)}", expected ${expected}.`);
  switch (option.type) {
    case "check":
      if (!/^(true|false)$/i.test(text)) throw wrong("true or false");
      return text.toLowerCase() === "true";
    case "integer":
    case "number": {
      const value = text.trim() === "" ? Number.NaN : Number(text);
      const fits = value >= option.min && value <= option.max;
      if (!fits || (option.type === "integer" && !Number.isInteger(value)))
        throw wrong(`a ${option.type === "integer" ? "whole " : ""}number from ${option.min} to ${option.max}`);
      return value;
    }
    case "choice":
      if (!option.choices.includes(text)) throw wrong(`one of: ${option.choices.join(", ")}`);
      return text;
    case "text":
      return text;
  }
}

/** Finds an option by any of its names, ours or UCI's, in any case, and reads its value. */
export function parseOption<T extends OptionTable>(
  where: string,
  table: T,
  wanted: string,
  text: string,
): { name: keyof T & string; value: boolean | number | string } {
  const name = findOption(table, wanted);
  if (name !== undefined) return { name, value: parseOptionValue(where, name, table[name], text) };
  const known = Object.keys(table);
  throw new UserError(
    "OPTION_UNKNOWN",
    `${where}: there is no option "${wanted.slice(0, 80)}".${suggestion(wanted, known)}\nThere are: ${known.join(", ") || "none"}.`,
  );
}

/** Reads `name=value` pairs by a table. Options not given have their defaults. */
export function parseOptionValues<T extends OptionTable>(
  where: string,
  table: T,
  given: Iterable<readonly [string, string]>,
): OptionValues<T> {
  const values = defaultValues(table);
  for (const [wanted, text] of given) {
    const { name, value } = parseOption(where, table, wanted, text);
    Object.assign(values, { [name]: value });
  }
  return values;
}

/** The key of an option by any of its names; undefined if the table has none such. */
export function findOption(table: OptionTable, wanted: string): string | undefined {
  const lower = wanted.toLowerCase();
  return Object.keys(table).find((key) => key.toLowerCase() === lower || table[key].uci?.toLowerCase() === lower);
}

/** The line by which a UCI engine declares an option. */
export function declareUciOption(name: string, option: Option): string {
  const label = `option name ${option.uci ?? name}`;
  switch (option.type) {
    case "check":
      return `${label} type check default ${option.default}`;
    case "integer":
      return `${label} type spin default ${option.default} min ${option.min} max ${option.max}`;
    case "choice":
      return `${label} type combo default ${option.default} ${option.choices.map((each) => `var ${each}`).join(" ")}`;
    case "number":
    case "text":
      return `${label} type string default ${option.default === "" ? "<empty>" : option.default}`;
  }
}
