import type * as z from "zod";
import { UserError } from "./errors.js";
import { suggestion } from "./nearest.js";

/** The part of a schema that messages need: the fields of an object, or what stands behind a default. */
interface Inside {
  shape?: Record<string, Inside>;
  def?: { innerType?: Inside };
}

/** The names that the object at `path` of a schema may have. */
function namesAt(schema: Inside, path: readonly PropertyKey[]): string[] {
  let at: Inside | undefined = schema;
  const unwrap = () => {
    while (at && !at.shape) at = at.def?.innerType;
  };
  unwrap();
  for (const key of path) {
    at = at?.shape?.[String(key)];
    unwrap();
  }
  return Object.keys(at?.shape ?? {});
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], value);

/**
 * Checks plain data, such as JSON from a file or a page, and fills in defaults. `where` names its source: all that is wrong
 * is told in one message, an unknown name with the nearest known one.
 */
export function parsePlain<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const lines = error.issues.flatMap((issue) => {
    if (issue.code === "unrecognized_keys") {
      const known = namesAt(schema as Inside, issue.path);
      return issue.keys.map((key) => {
        const name = [...issue.path, key].join(".");
        return `${where}: there is no "${name}".${suggestion(key, known)} There is: ${known.join(", ")}.`;
      });
    }
    const name = issue.path.length === 0 ? "" : `${issue.path.join(".")} `;
    if (issue.code === "custom") return [`${where}: ${name}${issue.message}`];
    const found = JSON.stringify(valueAt(value, issue.path)) ?? "missing";
    return [`${where}: ${name}is ${found}. ${issue.message}.`];
  });
  throw new UserError("DATA_SHAPE", lines.join("\n"));
}
