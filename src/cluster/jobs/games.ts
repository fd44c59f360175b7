import * as z from "zod";
import type { ContestGame, GameRecord, Opening } from "#arena";
import { parsePlain } from "#base";
import { parseFen } from "#chess";
import { type ContestSpec, isTimed, parseContest, playHere, withoutTimes } from "#data";
import type { JobKind } from "./kind.js";
import { checkPlayer } from "./names.js";

const count = z.int().min(0);
const GAME = z.strictObject({
  index: count,
  pair: count,
  round: count,
  white: count,
  black: count,
  opening: z.strictObject({ fen: z.string().max(200), moves: z.array(count.max(65535)).max(1000), chess960: z.boolean() }), // biome-ignore format: a list
});
const SCHEMA = z.strictObject({ kind: z.literal("games"), spec: z.unknown(), games: z.array(GAME).min(1).max(1000) }); // biome-ignore format: a list

/** A game, and where it begins. */
export type BookedGame = ContestGame & { opening: Opening };

/** Games of a contest; the result is a line for each, in their order. At fixed nodes or depth it follows from the job alone. */
export interface GamesJob {
  kind: "games";
  spec: ContestSpec; // players and conditions; openings stand with the games
  games: BookedGame[];
}

/** A game that was played. */
export interface PlayedGame {
  index: number;
  record: GameRecord;
}

export const GAMES: JobKind<GamesJob> = {
  parse(value) {
    const { kind, spec, games } = parsePlain(SCHEMA, value, "job");
    const parsed = parseContest(spec, "job");
    parsed.players.forEach(checkPlayer);
    for (const { opening } of games) {
      const position = parseFen(opening.fen, { chess960: opening.chess960 });
      for (const move of opening.moves) {
        if (!position.moves().includes(move)) throw new Error(`job: ${move} is no legal move of an opening.`);
        position.play(move);
      }
    }
    return { kind, spec: { ...parsed, openings: { shuffle: false }, concurrency: 1 }, games };
  },
  players: ({ spec }) => spec.players,
  files: () => ({}),
  items: ({ games }) => games.length,
  crowd: () => 1,
  async run({ spec, games }, place, signal) {
    const players = spec.players.map((text) => place.player(text));
    const lines = new Map<number, string>();
    const openings = new Map(games.map(({ round, opening }) => [round, opening]));
    const rename = (text: string) =>
      players.reduce((renamed, player, i) => renamed.replaceAll(player, spec.players[i]), text);
    await playHere({
      players,
      spec,
      games,
      seed: spec.seed,
      signal,
      opening: (round) => openings.get(round) ?? games[0].opening,
      async onGame({ index }, record) {
        const played = trim(isTimed(spec) ? record : withoutTimes(record));
        if (played.fault) played.fault.message = rename(played.fault.message); // paths of this machine mean nothing elsewhere
        lines.set(index, JSON.stringify({ index, record: played } satisfies PlayedGame));
        return undefined;
      },
    });
    return games.map(({ index }) => lines.get(index) ?? "");
  },
};

/** What the files of a contest keep of a game. */
const trim = (record: GameRecord): GameRecord => ({
  ...record,
  moves: record.moves.map(({ thought, ...rest }) => {
    if (!thought) return rest;
    const { lines, depth, nodes, timeMs } = thought;
    const [{ scoreCp, mate } = { scoreCp: undefined, mate: undefined }] = lines;
    return { ...rest, thought: { lines: lines.length > 0 ? [{ scoreCp, mate, pv: [] }] : [], depth, nodes, timeMs } };
  }),
});
