// The options our engine offers to a chess program, and what is made of `setoption`.
import { suggestion, UserError } from "#base";
import { BUILTIN } from "./alphabeta-engine.js";
import { ELO_RANGE } from "./strength.js";

interface Check {
  type: "check";
  default: boolean;
}
interface Spin {
  type: "spin";
  default: number;
  min: number;
  max: number;
}
interface Text {
  type: "string";
  default: string;
}

export const UCI_SETTINGS = {
  Hash: { type: "spin", default: 16, min: 1, max: 2048 }, // MB
  Threads: { type: "spin", default: 1, min: 1, max: 64 },
  MultiPV: { type: "spin", default: 1, min: 1, max: 218 },
  Ponder: { type: "check", default: false }, // only says that the program may ponder
  "Move Overhead": { type: "spin", default: 20, min: 0, max: 5000 }, // milliseconds
  EvalFile: { type: "string", default: BUILTIN },
  UCI_Chess960: { type: "check", default: false },
  UCI_ShowWDL: { type: "check", default: false },
  UCI_LimitStrength: { type: "check", default: false },
  UCI_Elo: { type: "spin", default: 1500, ...ELO_RANGE },
} satisfies Record<string, Check | Spin | Text>;

type Table = typeof UCI_SETTINGS;
type ValueOf<T> = T extends { type: "check" } ? boolean : T extends { type: "spin" } ? number : string;
export type Settings = { [K in keyof Table]: ValueOf<Table[K]> };

export const defaultSettings = (): Settings =>
  Object.fromEntries(Object.entries(UCI_SETTINGS).map(([name, setting]) => [name, setting.default])) as Settings;

/** The lines that declare the options, or some of them. */
export const declareSettings = (names = Object.keys(UCI_SETTINGS) as readonly (keyof Table)[]): string[] =>
  names.map((name) => {
    const setting: Check | Spin | Text = UCI_SETTINGS[name];
    const range = setting.type === "spin" ? ` min ${setting.min} max ${setting.max}` : "";
    return `option name ${name} type ${setting.type} default ${setting.default}${range}`;
  });

/** Reads `name X value Y` and sets it; says which option it was. */
export function applySetting(settings: Settings, text: string): keyof Settings {
  const match = /^name\s+(.+?)(?:\s+value(?:\s+(.*))?)?$/i.exec(text.trim());
  if (!match) throw new UserError("UCI_OPTION", `setoption "${text.slice(0, 80)}": expected "name NAME value VALUE".`);
  const [, wanted, value = ""] = match;
  const names = Object.keys(UCI_SETTINGS) as (keyof Settings)[];
  const name = names.find((each) => each.toLowerCase() === wanted.toLowerCase());
  if (!name)
    throw new UserError("UCI_OPTION", `There is no option "${wanted.slice(0, 80)}".${suggestion(wanted, names)}`);
  const setting: Check | Spin | Text = UCI_SETTINGS[name];
  const set = (parsed: boolean | number | string) => Object.assign(settings, { [name]: parsed });
  if (setting.type === "check") {
    if (!/^(true|false)$/i.test(value))
      throw new UserError("UCI_OPTION", `${name} is "${value.slice(0, 80)}", expected true or false.`);
    set(value.toLowerCase() === "true");
  } else if (setting.type === "spin") {
    const number = Number(value);
    if (value === "" || !Number.isInteger(number) || number < setting.min || number > setting.max) {
      throw new UserError(
        "UCI_OPTION",
        `${name} is "${value.slice(0, 80)}", expected a whole number from ${setting.min} to ${setting.max}.`,
      );
    }
    set(number);
  } else set(value);
  return name;
}
