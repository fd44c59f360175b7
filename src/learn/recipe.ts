// What a network learns by playing itself, as plain data: a recipe's text, checked, with its defaults.
import * as z from "zod";
import { parsePlain } from "#base";
import { parseContest, parseSelfPlay } from "#data";
import { parseRecipeValues, resolveRecipe } from "#training";

const whole = z.int().min(0);
const count = z.int().min(1);
const plain = z.record(z.string(), z.unknown());

const SCHEMA = z.strictObject({
  /** How the network thinks, in self-play and in matches: mcts or ab, with its options: mcts?root=gumbel. */
  search: z.string().regex(/^(mcts|ab)(\?.*)?$/, "Expected mcts or ab, with options behind a question mark"),
  seed: z.int().default(1),
  generations: count.default(20),
  train: plain, // settings as for `tabiya train`: family, size, learningRate, ...; start is a checkpoint to begin with
  selfplay: plain, // as a spec of self-play, without the player: games, nodes, openings, adjudication, ...
  replay: z
    .strictObject({
      window: count.default(20), // generations whose games are learnt from
      reuse: z.number().positive().default(4), // positions shown for each new one; much more forgets how to generalise
      minimum: whole.default(10_000), // positions in the window before anything is learnt
    })
    .prefault({}),
  match: z.strictObject({
    nodes: count, // for each move of a network
    openings: plain.default({ randomPlies: 8 }), // as in a contest
    adjudication: plain.default({ maxMoves: 150 }),
    concurrency: count.default(1), // with more, a test may stop a game earlier or later when it is repeated
  }),
  gate: z
    .strictObject({
      games: whole.default(100), // at most; with 0 every generation is promoted unseen
      elo0: z.number().default(0), // of the test: it passes what gains elo1 rather than elo0
      elo1: z.number().default(50),
    })
    .prefault({}),
  ladder: z
    .strictObject({
      players: z.array(z.string()).default(["random", "builtin@ab:100", "rollouts@mcts:200"]), // that never change
      games: whole.default(20), // against each, and against the first network
      every: count.default(1), // generations
    })
    .prefault({}),
});

/** A recipe of self-play, training and matches, checked and with its defaults. */
export type LearnRecipe = z.output<typeof SCHEMA>;

/** Reads a recipe and checks all of it, so that nothing fails after hours. */
export function parseLearnRecipe(text: string, where: string): LearnRecipe {
  return checkLearnRecipe(parseRecipeValues(text, where), where);
}

/** Checks a recipe's values and fills in their defaults. */
export function checkLearnRecipe(values: unknown, where: string): LearnRecipe {
  const recipe = parsePlain(SCHEMA, values, where);
  resolveRecipe(recipe.train, `${where}: train`);
  selfPlayOf(recipe, "network", 1, `${where}: selfplay`);
  matchOf(recipe, ["network", "network"], { games: 2 }, 1, `${where}: match`);
  return recipe;
}

/** The player that a network is, with so many nodes a move. */
export function playerOf({ search }: LearnRecipe, network: string, nodes: number): string {
  const [name, options] = search.split("?");
  return `${network}@${name}:${nodes}${options === undefined ? "" : `?${options}`}`;
}

export function selfPlayOf({ selfplay, search }: LearnRecipe, network: string, seed: number, where = "selfplay") {
  return parseSelfPlay({ ...selfplay, player: `${network}@${search}`, seed }, where);
}

export function matchOf(
  { match: { openings, adjudication, concurrency } }: LearnRecipe,
  players: readonly string[],
  test: { games: number; sprt?: { elo0: number; elo1: number } },
  seed: number,
  where = "match",
) {
  return parseContest({ kind: "match", players: [...players], openings, adjudication, concurrency, seed, marginMs: 60_000, ...test }, where); // biome-ignore format: a list
}

/** Policies are learnt from lines of JSON, scores from packed records. */
export const gamesFile = ({ search }: LearnRecipe): string => (search.startsWith("ab") ? "games.bin" : "games.jsonl");
