import { commitAll, type Pending, prepareFile, readText, UserError } from "#base";

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

export const formatSidecar = (moves: string): string => `${JSON.stringify({ moves })}\n`;

/**
 * Files of data with the sidecar that belongs to `path`, if `text` gives one when they are whole. The sidecar gets its name
 * first: a file of indices is never seen without it.
 */
export function withSidecar(
  path: string,
  files: readonly Pending[],
  text: () => Promise<string | undefined> | string | undefined,
): Pending {
  let all: readonly Pending[] | undefined; // once they are finished
  const finish = async () => {
    if (all) return;
    for (const file of files) await file.finish();
    const content = await text();
    all = content === undefined ? files : [await prepareFile(sidecarOf(path), content), ...files];
    await all[0].finish();
  };
  return {
    finish,
    async commit() {
      await finish();
      await commitAll(all ?? files);
    },
    async abort() {
      for (const file of all ?? files) await file.abort();
    },
  };
}
