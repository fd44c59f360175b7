import { suggestion, UserError } from "#base";

/** An option that a UCI engine says it has. */
export interface UciOption {
  name: string;
  type: "check" | "spin" | "combo" | "button" | "string";
  default?: string;
  min?: number;
  max?: number;
  choices: string[]; // of a combo
}

/** Reads `option name X type Y ...`; undefined if it is not that. */
export function parseUciOption(line: string): UciOption | undefined {
  const match = /^option name (.+?) type (check|spin|combo|button|string)(.*)$/.exec(line);
  if (!match) return undefined;
  const [, name, type, rest] = match;
  const option: UciOption = { name, type: type as UciOption["type"], choices: [] };
  // Values may hold spaces; they end at the next keyword.
  for (const [, key, value] of rest.matchAll(/ (default|min|max|var)(?: (.*?))?(?= (?:default|min|max|var)\b|$)/g)) {
    if (key === "default") option.default = value ?? "";
    else if (key === "var") option.choices.push(value);
    else if (key === "min") option.min = Number(value);
    else option.max = Number(value);
  }
  return option;
}

/** Finds an option by name (case does not matter) and checks the value; errors name what the engine would take. */
export function checkUciOption(
  engine: string,
  options: ReadonlyMap<string, UciOption>,
  name: string,
  value: string,
): UciOption {
  const option = options.get(name.toLowerCase());
  if (!option) {
    const names = [...options.values()].map((each) => each.name);
    throw new UserError(
      "ENGINE_OPTION",
      `${engine} has no option "${name}".${suggestion(name, names)}\nIt has: ${names.join(", ") || "none"}.`,
    );
  }
  const { type, min, max, choices } = option;
  const number = Number(value);
  const expected =
    type === "check" && !["true", "false"].includes(value)
      ? "true or false"
      : type === "spin" &&
          (!Number.isInteger(number) ||
            value.trim() === "" ||
            number < (min ?? -Infinity) ||
            number > (max ?? Infinity))
        ? `a whole number from ${min} to ${max}`
        : type === "combo" && !choices.includes(value)
          ? `one of: ${choices.join(", ")}`
          : undefined;
  if (expected !== undefined) {
    throw new UserError("ENGINE_OPTION", `${engine}: option ${option.name} is "${value}", expected ${expected}.`);
  }
  return option;
}
