import * as z from "zod";
import { FAMILIES, type Family, type FamilyName } from "#models";
import { FAMILY_SCHEMA, TRAIN_DEFAULTS, TRAIN_SCHEMA } from "./config.js";
import { taskOf } from "./tasks.js";

/** A setting of a recipe, as a form or a help page shows it. */
export interface Setting {
  key: string;
  group: "training" | "task" | "network"; // how to train, what to learn, the network itself
  type: "integer" | "number" | "boolean" | "text" | "choice" | "texts" | "numbers";
  choices?: string[];
  minimum?: number;
  maximum?: number;
  default: unknown;
  meaning: string;
}

/** Every setting of a family, in the order of its recipe, with the defaults of one of its sizes. */
export function listSettings(family: FamilyName, size?: string): Setting[] {
  const network: Family = FAMILIES[family];
  const task = taskOf(family);
  const sizes = Object.keys(network.sizes);
  const training: Record<string, unknown> = { ...TRAIN_DEFAULTS, ...task.training, family };
  if (size !== undefined) training.size = size;
  const list = (group: Setting["group"], fields: Readonly<Record<string, z.ZodType>>, defaults: object): Setting[] =>
    Object.entries(fields).map(([key, field]) => describe(key, group, field, (defaults as Values)[key]));
  return [
    ...list("training", TRAIN_SCHEMA.shape, training).map((setting) =>
      setting.key === "size" ? { ...setting, type: "choice" as const, choices: sizes } : setting,
    ),
    ...list("task", task.fields, task.defaults),
    ...list("network", network.fields, network.sizes[String(training.size)] ?? {}),
  ];
}

/** The settings in a run's config, which holds more than these. */
export function settingsOf(config: Values): Record<string, unknown> {
  const known = new Set(listSettings(FAMILY_SCHEMA.parse(config.family)).map(({ key }) => key));
  return Object.fromEntries(Object.entries(config).filter(([key]) => known.has(key)));
}

/** The families that can be trained, each with its sizes. */
export function trainable(): { family: FamilyName; sizes: string[] }[] {
  return (Object.keys(FAMILIES) as FamilyName[]).flatMap((family) => {
    const sizes = Object.keys(FAMILIES[family].sizes);
    return sizes.length === 0 ? [] : [{ family, sizes }];
  });
}

type Values = Readonly<Record<string, unknown>>;

/** The part of a JSON schema that is of use here. */
interface Shape {
  type?: string;
  enum?: string[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  exclusiveMaximum?: number;
  items?: Shape;
  description?: string;
}

function describe(key: string, group: Setting["group"], field: z.ZodType, preset: unknown): Setting {
  const shape = z.toJSONSchema(field, { io: "output", unrepresentable: "any" }) as Shape;
  const { minimum = shape.exclusiveMinimum, maximum = shape.exclusiveMaximum } = shape;
  return {
    key,
    group,
    type: typeOf(shape),
    ...(shape.enum && { choices: shape.enum }),
    // zod bounds whole numbers by what a double can hold, which says nothing.
    ...(minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && { maximum }),
    default: preset,
    meaning: shape.description ?? "",
  };
}

function typeOf({ type, enum: choices, items }: Shape): Setting["type"] {
  if (choices) return "choice";
  if (type === "array") return items?.type === "string" ? "texts" : "numbers";
  return type === "integer" || type === "number" || type === "boolean" ? type : "text";
}
