import { UserError } from "#base";

const SHARDED = /^(.*)@(\d+)(\.(?:bagz?|parquet))$/;

/** The files a name stands for: `name@3.bagz` is name-00000-of-00003.bagz and two more, any other name itself. */
export function shardPaths(path: string): string[] {
  const [, stem, count, extension] = path.match(SHARDED) ?? [];
  if (stem === undefined) return [path];
  const number = (n: number) => String(n).padStart(5, "0");
  if (Number(count) < 1) throw new UserError("SHARDS", `${path}: "@${count}" means no files; expected at least 1.`);
  return Array.from(
    { length: Number(count) },
    (_, i) => `${stem}-${number(i)}-of-${number(Number(count))}${extension}`,
  );
}

/** The error for a shard that is not there; another error is left as it is. */
export function explainShard(error: unknown, path: string, shard: number, paths: readonly string[]): unknown {
  if (paths.length === 1 || (error as UserError).code !== "FILE_MISSING") return error;
  return new UserError(
    "SHARDS",
    `${path}: shard ${shard} of ${paths.length} is missing (${paths[shard]}). Is the number after "@" right?`,
  );
}
