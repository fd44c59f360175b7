import { readText, UserError, writeFile } from "#base";

/** What stands beside a file of move indices: the table they refer to. */
export const sidecarOf = (path: string) => `${path}.meta.json`;

/** The table that a file of move indices refers to; undefined if nothing says it. */
export async function readSidecar(path: string): Promise<string | undefined> {
  const file = sidecarOf(path);
  let text: string;
  try {
    text = await readText(file);
  } catch (error) {
    if ((error as UserError).code === "FILE_MISSING") return undefined;
    throw error;
  }
  try {
    const { moves } = JSON.parse(text) as { moves?: unknown };
    if (typeof moves === "string") return moves;
  } catch {} // said below
  throw new UserError(
    "JSONL_META",
    `${file}: expected a JSON object that names a table, such as {"moves": "moves4672"}.`,
  );
}

export const writeSidecar = (path: string, moves: string): Promise<void> =>
  writeFile(sidecarOf(path), `${JSON.stringify({ moves })}\n`);
