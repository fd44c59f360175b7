import { parse as parseYaml } from "yaml";
import * as z from "zod";
import { messageOf, suggestion, UserError } from "#base";
import { FAMILIES, type Family } from "#models";
import { FAMILY_SCHEMA, type Recipe, TRAIN_DEFAULTS, TRAIN_SCHEMA } from "./config.js";
import { taskOf } from "./tasks.js";

type Values = Readonly<Record<string, unknown>>;

/**
 * The text of a recipe file, a list of `key: value`, as plain values. Settings under the key `quick` stand in for the
 * recipe's own if it is to be `quick`: a few minutes that show that all is in place.
 */
export function parseRecipe(text: string, file: string, { quick = false } = {}): Record<string, unknown> {
  const { quick: instead, ...values } = parseRecipeValues(text, file);
  if (!quick) return values;
  if (typeof instead !== "object" || instead === null)
    throw new UserError("RECIPE_QUICK", `${file} has no quick settings (a key \`quick\` with settings below it).`);
  return { ...values, ...instead };
}

/** The settings that a recipe in YAML holds, unchecked. */
export function parseRecipeValues(text: string, file: string): Record<string, unknown> {
  let values: unknown;
  try {
    values = parseYaml(text, { logLevel: "error" });
  } catch (error) {
    throw new UserError("RECIPE_SYNTAX", `${file}: not YAML: ${messageOf(error).split("\n")[0].slice(0, 200)}`);
  }
  if (values === null) return {};
  if (typeof values !== "object" || Array.isArray(values))
    throw new UserError("RECIPE_SYNTAX", `${file}: expected lines of "key: value", found ${JSON.stringify(values)}.`);
  return values as Record<string, unknown>;
}

/** `key=value` for one setting of a recipe; the value is read as in a recipe. */
export function parseSetting(text: string): Record<string, unknown> {
  const equals = text.indexOf("=");
  if (equals <= 0) throw new UserError("RECIPE_SETTING", `"${text}": expected key=value, as learningRate=0.002.`);
  return parseRecipeValues(`${text.slice(0, equals)}: ${text.slice(equals + 1)}`, `"${text}"`);
}

/** Completes a recipe's values and checks them; `where` names their source in messages. */
export function resolveRecipe(values: Values, where: string): Recipe {
  const { family: name = TRAIN_DEFAULTS.family } = values;
  const { family } = parse(z.object({ family: FAMILY_SCHEMA }), { family: name }, where);
  const network: Family = FAMILIES[family];
  const { fields, sizes } = network;
  const task = taskOf(family);
  const known = [...Object.keys(TRAIN_SCHEMA.shape), ...Object.keys(task.fields), ...Object.keys(fields)];
  for (const key of Object.keys(values)) {
    if (!known.includes(key))
      throw new UserError(
        "RECIPE_KEY",
        `${where}: there is no setting "${key}".${suggestion(key, known)}\nThere are: ${known.join(", ")}.`,
      );
  }
  /** The defaults with those of the values that have a field. */
  const complete = (shape: Values, defaults: object): Values => ({
    ...defaults,
    ...Object.fromEntries(Object.entries(values).filter(([key]) => Object.hasOwn(shape, key))),
  });
  const train = parse(TRAIN_SCHEMA, complete(TRAIN_SCHEMA.shape, { ...TRAIN_DEFAULTS, ...task.training }), where);
  if (!Object.hasOwn(sizes, train.size))
    throw new UserError(
      "RECIPE_VALUE",
      `${where}: ${family} has no size "${train.size}".${suggestion(train.size, Object.keys(sizes))}\n` +
        `It has: ${Object.keys(sizes).join(", ")}.`,
    );
  return {
    train,
    task: parse(task, complete(task.fields, task.defaults), where),
    model: parse(network, complete(fields, sizes[train.size]), where),
  };
}

/** Checks values; of what is wrong with them the first is said. */
function parse<T>(parser: { parse(values: unknown): T }, values: Values, where: string): T {
  try {
    return parser.parse(values);
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw new UserError("RECIPE_VALUE", `${where}: ${messageOf(error)}`);
    const [{ path, message }] = error.issues;
    const key = String(path[0]);
    throw new UserError("RECIPE_VALUE", `${where}: ${key} is ${JSON.stringify(values[key])}. ${message}.`);
  }
}
