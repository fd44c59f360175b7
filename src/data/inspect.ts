import { openBytes, UserError } from "#base";
import { type DataRecord, kindOf, NO_EVAL, openRecords, type RecordKind, readGames } from "#formats";
import { learnersOf } from "#training";

/** What a data file holds, looked at before it is used. */
export interface Inspection {
  format: string;
  kind: RecordKind | "games";
  records: number; // or games
  isWhole: boolean; // false: counting was stopped, there are more
  families: readonly string[]; // that can learn from it
  warnings: string[]; // what would go wrong, and what to do about it
  first: DataRecord[];
  players: PlayerCount[]; // of games: those who played most of them, as far as was counted
}

/** How many games of a file a player played. */
export interface PlayerCount {
  name: string;
  games: number;
}

const SHOWN = 3; // records
const PLAYERS = 200;
const SAMPLE = 5_000; // records or games that warnings are drawn from
const PATIENCE_MS = 2_000; // of counting, where a file does not tell how much it holds

const isGames = (path: string) => /\.pgn(\.(zst|gz|bz2))?$/i.test(path);

/** Looks into a file of records or games; fails as its reader would if it is broken. */
export async function inspectData(path: string): Promise<Inspection> {
  const found = isGames(path) ? await inspectGames(path) : await inspectRecords(path);
  if (found.records === 0) throw new UserError("DATA_EMPTY", `${path}: there is nothing in it.`);
  return { ...found, families: learnersOf(found.kind) };
}

type Found = Omit<Inspection, "families">;

async function inspectRecords(path: string): Promise<Found> {
  const reader = await openRecords(path);
  const sample: DataRecord[] = [];
  let records = 0;
  let isWhole = true;
  const start = performance.now();
  for await (const batch of reader) {
    records += batch.length;
    if (sample.length < SAMPLE) sample.push(...batch.slice(0, SAMPLE - sample.length));
    if (sample.length < SAMPLE) continue;
    if (reader.records !== undefined) break;
    if (performance.now() - start < PATIENCE_MS) continue;
    isWhole = false;
    break;
  }
  const kind = sample.length === 0 ? "row" : kindOf(sample[0]);
  const warnings = Object.values(warningsOf(sample));
  const first = sample.slice(0, SHOWN);
  return { format: reader.format, kind, records: reader.records ?? records, isWhole, warnings, first, players: [] }; // biome-ignore format: a list
}

interface Emptiness {
  scores?: string; // what to do about scores that teach nothing
  results?: string;
}

function warningsOf(sample: readonly DataRecord[]): Emptiness {
  const scored = sample.filter(({ score }) => score !== undefined);
  if (scored.length === 0) return {};
  return {
    ...(scored.every(({ score }) => score === 0) && {
      scores: "Every score is 0: to learn from the games' results instead, set resultShare to 1.",
    }),
    ...(scored.every(({ result }) => result === 0) && {
      results: "Every result is a draw: the results teach nothing here, so leave resultShare at 0.",
    }),
  };
}

/** What the first records of a file would not teach by scores (0) and results (1), mixed by `resultShare`. */
export async function warnBeforeTraining(path: string, resultShare: number): Promise<string[]> {
  const sample: DataRecord[] = [];
  for await (const batch of await openRecords(path, { onBad() {} })) {
    sample.push(...batch.slice(0, SAMPLE - sample.length));
    if (sample.length === SAMPLE) break;
  }
  const { scores, results } = warningsOf(sample);
  return [...(scores && resultShare < 1 ? [scores] : []), ...(results && resultShare > 0 ? [results] : [])];
}

async function inspectGames(path: string): Promise<Found> {
  let [games, broken, valued, decided] = [0, 0, 0, 0];
  let isWhole = true;
  const start = performance.now();
  const onBad = () => void broken++;
  const counts = new Map<string, number>();
  for await (const { evals, result, tags } of readGames(await openBytes(path), { source: path, onBad })) {
    games++;
    for (const side of ["White", "Black"]) {
      const name = tags.get(side)?.trim() ?? "";
      if (!/^[?\s]*$/.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (evals.some((value) => value !== NO_EVAL)) valued++;
    if (result !== "*") decided++;
    if (games < SAMPLE || performance.now() - start < PATIENCE_MS) continue;
    isWhole = false;
    break;
  }
  const warnings: string[] = [];
  if (valued === 0 && games > 0)
    warnings.push("No game has [%eval] comments: to learn from the games' results, set resultShare to 1.");
  else if (valued < games)
    warnings.push(`${games - valued} of ${games} games have no [%eval] comments; their positions are left out.`);
  if (decided < games) warnings.push(`${games - decided} of ${games} games have no result.`);
  if (broken > 0) warnings.push(`${broken} games are broken, and are left out.`);
  const players = [...counts].map(([name, count]) => ({ name, games: count })).sort((a, b) => b.games - a.games);
  return { format: "pgn", kind: "games", records: games, isWhole, warnings, first: [], players: players.slice(0, PLAYERS) }; // biome-ignore format: a list
}
