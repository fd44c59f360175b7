import { listFolder, makeFolder, UserError } from "#base";
import { formatOf } from "#formats";
import { parseSource } from "#training";
import { Dataset } from "./dataset.js";

const isGames = (path: string) => /\.pgn(\.(zst|gz|bz2))?$/i.test(path);
const isValidation = (name: string) => /\.validation\./.test(name); // as `data import --validation` names them

export interface SetOptions {
  folder: string; // where records made from games are kept
  role: "learn" | "judge"; // of a folder: all but the validation files, or those alone if there are any
  resultShare?: number; // of the recipe: games are valued by their results alone where it is 1
  signal?: AbortSignal;
  note(text: string): void;
}

/**
 * The files that a list of sets stands for: a folder for all files of records and games in it, in the order of their names,
 * and games for the records made from them, once. What stands behind a name (?weight=2) holds for each of its files.
 */
export async function openSets(sets: readonly string[], options: SetOptions): Promise<string[]> {
  const files: string[] = [];
  for (const set of sets) {
    const { path, resultShare = options.resultShare } = parseSource(set);
    const settings = set.slice(path.length);
    const value = resultShare === 1 ? "result" : "eval";
    for (const file of await filesOf(path, options.role))
      files.push(`${isGames(file) ? await importOnce(file, value, options) : file}${settings}`);
  }
  return files;
}

async function filesOf(path: string, role: SetOptions["role"]): Promise<string[]> {
  const names = await listFolder(path);
  if (names === undefined) return [path];
  const known = names.filter((name) => isGames(name) || formatOf(name) !== undefined).sort();
  const judging = known.filter(isValidation);
  const learning = known.filter((name) => !isValidation(name));
  const chosen = role === "judge" && judging.length > 0 ? judging : learning;
  if (chosen.length === 0)
    throw new UserError(
      "DATA_NONE",
      `${path}: the folder has no files of records (.bin, .binpack, ...) or games (.pgn).`,
    );
  return chosen.map((name) => `${path.replace(/\/+$/, "")}/${name}`);
}

/** Records of games; what an earlier start of the run made of them is used again. */
async function importOnce(
  games: string,
  value: "eval" | "result",
  { folder, signal, note }: SetOptions,
): Promise<string> {
  const name = `${games.replace(/^\W+/, "").replace(/[\\/:]+/g, "_")}.${value}.bin`; // two files of one name do not meet
  const path = `${folder}/${name}`;
  if ((await listFolder(folder))?.includes(name)) return path;
  await makeFolder(folder);
  note(`${games}: making records of its games ...`);
  const { length, troubles } = await Dataset.fromPgn(games, path, { value, signal }).catch(async (error: unknown) => {
    if (!(error instanceof UserError && error.code === "IMPORT_EMPTY")) throw error;
    throw new UserError(
      "DATA_EMPTY",
      `${games}: no position of its games has ${value === "eval" ? "an [%eval] comment" : "a result"}.` +
        (value === "eval" ? "\nLearn from the results of the games with the setting resultShare: 1" : ""),
    );
  });
  note(`${games}: ${length} positions are kept in ${path}`);
  if (troubles.length > 0) note(`${troubles.length} games were left out, the first because: ${troubles[0]}`);
  return path;
}
