// Self-play as plain JSON: what a command line or a recipe is translated into, and what a cluster queues.
import * as z from "zod";
import { parsePlain } from "#base";

const whole = z.int().min(0);
const count = z.int().min(1);
const share = z.number().min(0).max(1);

const SCHEMA = z.strictObject({
  player: z.string(), // NET@mcts or NET@ab, with options of the search behind a question mark
  games: count,
  nodes: count, // simulations (of a tree) or nodes (of alpha-beta) for a move that is recorded
  seed: z.int().default(1), // decides everything that is left to chance
  /**
   * Playout-cap randomisation, of a tree: this share of the moves is searched with all `nodes` and recorded, the others are
   * played after `cheapNodes` (a fifth by default) so that games end soon (Wu 2019, "Accelerating self-play learning").
   */
  fullShare: share.default(0.25),
  cheapNodes: count.optional(),
  openings: z
    .strictObject({
      file: z.string().optional(), // a book, EPD or PGN, of which each game draws one
      plies: whole.optional(), // taken from each game of a PGN book; all by default
      randomPlies: whole.optional(), // random moves at the start, or one more; 8 by default, 0 after a book
      randomShare: share.default(1), // games that begin with random moves, of those that do not begin as an endgame
      endgameShare: share.default(0), // games that begin with 4 to 10 pieces on random squares
    })
    .prefault({}),
  adjudication: z
    .strictObject({
      resign: z.strictObject({ moves: count, scoreCp: whole }).optional(),
      draw: z.strictObject({ from: whole, moves: count, scoreCp: whole }).optional(),
      material: z.strictObject({ points: count, moves: count }).optional(),
      playOn: share.default(0.1), // games in which none of these rules holds, to see how often they would have been wrong
      maxMoves: count.default(200), // then the game is cut off: its positions are valued by the search alone
    })
    .prefault({}), // see Adjudication of #arena
});

/** Games of a player against itself, complete. */
export type SelfPlaySpec = z.output<typeof SCHEMA>;
/** The same as it may be written: what has a default may be left out. */
export type SelfPlayInput = z.input<typeof SCHEMA>;

/** Checks a spec and fills in its defaults; `where` names its source in messages. */
export const parseSelfPlay = (value: unknown, where = "self-play"): SelfPlaySpec => parsePlain(SCHEMA, value, where);
