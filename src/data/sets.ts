import { listFolder, makeFolder, removeFile, UserError } from "#base";
import { formatOf } from "#formats";
import { type DataSource, formatSource, parseSource } from "#training";
import { Dataset } from "./dataset.js";
import { validationPath } from "./split.js";

const isGames = (path: string) => /\.pgn(\.(zst|gz|bz2))?$/i.test(path);
const isValidation = (name: string) => /\.validation\./.test(name); // as `data import --validation` names them

/** Where the records of a set are kept, and what they are for. */
export interface SetOptions {
  folder: string; // where records made from games are kept
  within?: string; // the folder that paths are seen from, if it is another than the program's
  role: "learn" | "judge"; // of a folder: all but the validation files, or those alone if there are any
  resultShare?: number; // of the recipe: games are valued by their results alone where it is 1
  signal?: AbortSignal;
  note(text: string): void;
}

/**
 * The files that a list of sets stands for: a folder for all files of records and games in it, in the order of their names,
 * and games for the records made from them, once. What stands behind a name (?weight=2) holds for each of its files. Games
 * may be those of one player (?player=NAME), and a share of them held out (?heldOut=0.1): learning leaves these out, and
 * judging by the same set uses nothing else.
 */
export async function openSets(sets: readonly string[], options: SetOptions): Promise<string[]> {
  const files: string[] = [];
  const seen = (path: string) => (options.within === undefined || isWhole(path) ? path : `${options.within}/${path}`);
  for (const set of sets) {
    const { path, player, heldOut, ...settings } = parseSource(set);
    for (const file of await filesOf(path, seen(path), options.role)) {
      if (!isGames(file) && (player ?? heldOut) !== undefined)
        throw new UserError(
          "DATA_SETTING",
          `${set}: only games (.pgn) have players and can be held out; ${file} holds records.\n` +
            "Choose the games when their records are made (tabiya data import).",
        );
      const source = { ...settings, path: file, player, heldOut };
      const records = isGames(file) ? await importOnce(source, seen(file), options) : seen(file);
      files.push(formatSource({ ...settings, path: records }));
    }
  }
  return files;
}

/** Whether a path says all of where it leads. */
const isWhole = (path: string): boolean => /^([\\/]|\w+:)/.test(path);

async function filesOf(path: string, seen: string, role: SetOptions["role"]): Promise<string[]> {
  const names = await listFolder(seen);
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

const ADVICE = "Learn from the results of the games instead: --set resultShare=1 (in a recipe: resultShare: 1)";

/** Records of games, found at `seen`; what an earlier start of the run made of them is used again. */
async function importOnce(source: DataSource, seen: string, options: SetOptions): Promise<string> {
  const { path: games, player, heldOut = 0, resultShare = options.resultShare } = source;
  const { folder, role, signal, note } = options;
  const value = resultShare === 1 ? "result" : "eval";
  const chosen = [
    ...(player === undefined ? [] : [encodeURIComponent(player).replaceAll("*", "%2A")]),
    ...(heldOut > 0 ? [heldOut] : []),
  ];
  // Two files of one name, or two players of one file, do not meet.
  const name = [games.replace(/^\W+/, "").replace(/[\\/:]+/g, "_"), ...chosen, value, "bin"].join(".");
  const path = `${folder}/${name}`;
  const wanted = role === "judge" && heldOut > 0 ? validationPath(path) : path;
  if ((await listFolder(folder))?.includes(name)) return wanted;
  await makeFolder(folder);
  const whose = player === undefined ? "" : ` of ${player}`;
  note(`${games}: making records of its games${whose} ...`);
  const onNoEvals = (read: number) =>
    note(`${games}: the first ${read} games have no evaluations ([%eval] comments). ${ADVICE}`);
  const pgn = { value, player, validation: heldOut, signal, onNoEvals } as const;
  const { length, validation, troubles } = await Dataset.fromPgn(seen, path, pgn).catch(async (error: unknown) => {
    const code = error instanceof UserError ? error.code : "";
    if (code === "DATA_EMPTY" || code === "FILE_EMPTY") {
      for (const each of [path, validationPath(path)]) await removeFile(each);
      throw new UserError(
        "DATA_EMPTY",
        `${games}: holding out a share of ${heldOut} of its games${whose} leaves nothing on one side.\nGive more games, or another heldOut.`,
      );
    }
    if (code !== "IMPORT_EMPTY") throw error;
    throw new UserError(
      "DATA_EMPTY",
      `${games}: no position of its games${whose} has ${value === "eval" ? "an [%eval] comment" : "a result"}.` +
        (value === "eval" ? `\n${ADVICE}` : ""),
    );
  });
  note(
    `${games}: ${length} positions are kept in ${path}` +
      (validation ? `, ${validation.length} of games held out in ${validationPath(path)}` : ""),
  );
  if (troubles.length > 0) note(`${troubles.length} games were left out, the first because: ${troubles[0]}`);
  return wanted;
}
