import { type Encounter, ratePlayers } from "#arena";
import type { Encountered, LearnState } from "./state.js";

/** The rating of a generation, with its uncertainty. */
export interface LearnRating {
  elo: number; // the network it all began with is 0
  error: number | null; // half the 95 % interval
}

const FIRST = "generation 0";

/** Ratings of all generations and of the ladder, by every game they have played against one another. */
export function rateGenerations({ generations }: Pick<LearnState, "generations">): Map<string, LearnRating> {
  const names = [FIRST];
  const indexOf = (name: string) => (names.includes(name) ? names.indexOf(name) : names.push(name) - 1);
  const encounters = generations.flatMap(({ number, gate, ladder = [] }) =>
    [...(gate ? [gate] : []), ...ladder].map((met): Encounter => {
      const { wins, draws, losses, pentanomial, opponent } = met satisfies Encountered;
      const [first, second] = [indexOf(`generation ${number}`), indexOf(opponent)];
      return { first, second, games: { wins, draws, losses }, pairs: pentanomial };
    }),
  );
  if (encounters.length === 0) return new Map();
  const { players } = ratePlayers(names.length, encounters);
  return new Map(
    names.map((name, i) => [name, { elo: players[i].rating - players[0].rating, error: players[i].error }]),
  );
}
