// A contest as plain JSON: what a command line is translated into, a page sends and a cluster queues.
import * as z from "zod";
import { ELO_MODELS, parseTimeControl, SPRT_DEFAULTS } from "#arena";
import { parsePlain } from "#base";

export const CONTEST_KINDS = ["match", "tournament", "gauntlet", "games"] as const;

const whole = z.int().min(0);
const count = z.int().min(1);
const errorRate = z.number().gt(0).lt(0.5);

const SCHEMA = z
  .strictObject({
    /**
     * A match is between two, with Elo and perhaps a test; in a tournament everybody meets everybody, in a gauntlet the
     * first meets all others; `games` are played for their own sake, by one player against itself or by two.
     */
    kind: z.enum(CONTEST_KINDS),
    players: z.array(z.string()), // as for every command: NET[@SEARCH[:NODES]], random, uci:COMMAND
    games: count.optional(), // of a match or of `games`: in all; 100 by default, or as many as the test takes
    rounds: count.optional(), // of a tournament or gauntlet: openings for each two players, two games each; 5 by default
    timeControl: z.string().optional(), // seconds+increment, as 10+0.1, or moves/seconds, as 40/60
    limits: z
      .strictObject({ nodes: count.optional(), depth: count.optional(), moveTimeMs: count.optional() })
      .prefault({}), // for each move
    marginMs: whole.default(100), // that a move may come too late unpunished
    openings: z
      .strictObject({
        file: z.string().optional(), // a book, EPD or PGN
        plies: whole.optional(), // taken from each game of a PGN book; all by default
        randomPlies: whole.optional(), // instead of a book: random moves at the start, or one more
        shuffle: z.boolean().default(false), // the book's order is drawn by the seed
      })
      .prefault({}), // the built-in book by default
    seed: z.int().default(1), // of the order of openings and of players that use chance
    concurrency: count.default(1), // games at once
    adjudication: z
      .strictObject({
        resign: z.strictObject({ moves: count, scoreCp: whole }).optional(),
        draw: z.strictObject({ from: whole, moves: count, scoreCp: whole }).optional(),
        material: z.strictObject({ points: count, moves: count }).optional(),
        maxMoves: count.optional(),
      })
      .prefault({}), // see Adjudication
    sprt: z
      .strictObject({
        elo0: z.number(),
        elo1: z.number(),
        alpha: errorRate.default(SPRT_DEFAULTS.alpha),
        beta: errorRate.default(SPRT_DEFAULTS.beta),
        model: z.enum(ELO_MODELS).default(SPRT_DEFAULTS.model),
      })
      .optional(), // a match ends when the test is decided
  })
  .superRefine(({ kind, players, games, rounds, openings, sprt }, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: "custom", path: [field], input: undefined, message });
    const found = players.length;
    if (kind === "match" && found !== 2) refuse("players", `has ${found}; a match is between two players.`);
    if (kind === "games" && (found < 1 || found > 2)) refuse("players", `has ${found}; one or two players play games.`);
    if ((kind === "tournament" || kind === "gauntlet") && found < 2)
      refuse("players", `has ${found}; a ${kind} needs at least two players.`);
    const rated = kind === "tournament" || kind === "gauntlet";
    if (rated && games !== undefined) refuse("games", `is for matches; a ${kind} has rounds.`);
    if (!rated && rounds !== undefined) refuse("rounds", "is for tournaments and gauntlets; here give games.");
    if (kind !== "match" && sprt) refuse("sprt", `is for matches; this is a ${kind}.`);
    if (sprt && sprt.elo0 >= sprt.elo1) refuse("sprt", `has elo0 ${sprt.elo0}, which must be below elo1 ${sprt.elo1}.`);
    if (openings.file !== undefined && openings.randomPlies !== undefined)
      refuse("openings", "has both a file and randomPlies; give one of them.");
  });

/** A contest, complete. */
export type ContestSpec = z.output<typeof SCHEMA>;
/** A contest as it may be written: what has a default may be left out. */
export type ContestInput = z.input<typeof SCHEMA>;

/** Checks a contest and fills in its defaults; `where` names its source in messages. */
export function parseContest(value: unknown, where = "contest"): ContestSpec {
  const spec = parsePlain(SCHEMA, value, where);
  if (spec.timeControl !== undefined) parseTimeControl(spec.timeControl);
  return spec;
}

/** Everything that must be the same for games to belong to one contest, as `name=value; name=value`. */
export function describeSettings(spec: ContestSpec): string {
  // How many games and when to stop may change when a contest is resumed.
  const { kind, players, games: _games, rounds: _rounds, concurrency: _concurrency, sprt: _sprt, ...rest } = spec;
  const { file, ...openings } = rest.openings;
  const book = file === undefined ? undefined : file.replace(/^.*[/\\]/, "");
  const settings = { kind, players: players.join(" "), ...rest, openings: { ...openings, file: book } };
  return listLeaves(settings, "").join("; ");
}

function listLeaves(value: object, before: string): string[] {
  return Object.entries(value).flatMap(([name, field]) => {
    if (field === undefined || field === false) return [];
    if (typeof field === "object") return listLeaves(field, `${before}${name}.`);
    return [`${before}${name}=${String(field).replace(/; /g, ";")}`];
  });
}
