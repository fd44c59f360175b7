import * as z from "zod";
import { parsePlain, UserError } from "#base";
import { openSelfPlayer, parseSelfPlay, type SelfPlayer, type SelfPlaySpec } from "#data";
import type { JobKind, Workplace } from "./kind.js";
import { checkPlayer, namedFile } from "./names.js";
import { Slots } from "./slots.js";

/** Games of self-play; the result is a line for each. */
export interface SelfPlayJob {
  kind: "selfplay";
  spec: SelfPlaySpec; // its book of openings, if any, is named by its hash
  games: number[]; // by number
}

const SCHEMA = z.strictObject({ kind: z.literal("selfplay"), spec: z.unknown(), games: z.array(z.int().min(0)).min(1).max(1000) }); // biome-ignore format: a list

const TREES = 32; // that a core plays at once: so many fill the batches of a network

interface Table {
  player: SelfPlayer;
  slots: Slots; // as many games at once as the player likes
}

/** Players that jobs have in common: a network is loaded once, and its batches are filled by all of them together. */
const tables = new Map<string, Promise<Table>>();
const MOST_TABLES = 4; // networks that are kept: those of the last generations

export const SELFPLAY: JobKind<SelfPlayJob> = {
  parse(value) {
    const { kind, spec, games } = parsePlain(SCHEMA, value, "job");
    const parsed = parseSelfPlay(spec, "job");
    checkPlayer(parsed.player);
    const { file } = parsed.openings;
    if (file !== undefined && !namedFile(file))
      throw new UserError("JOB_FILE", `job: its book of openings is "${file}", expected one named by its hash.`);
    return { kind, spec: parsed, games };
  },
  players: ({ spec }) => [spec.player],
  files: ({ spec }) => ({ shared: spec.openings.file }),
  items: ({ games }) => games.length,
  crowd: ({ spec }) => (/@ab\b/.test(spec.player) ? 1 : TREES),
  async run(job, place, signal) {
    const { player, slots } = await tableOf(job, place);
    const lines: string[] = [];
    for (const game of job.games) lines.push(JSON.stringify(await slots.use(() => player.play(game, signal))));
    return lines;
  },
};

function tableOf({ spec }: SelfPlayJob, place: Workplace): Promise<Table> {
  const { games: _, ...rest } = spec;
  const key = JSON.stringify(rest);
  const known = tables.get(key);
  if (known) return known;
  const opened = open(spec, place);
  tables.set(key, opened);
  opened.catch(() => tables.delete(key)); // the next job tries again
  const [oldest] = tables;
  if (tables.size > MOST_TABLES) void forget(...oldest);
  return opened;
}

async function open(spec: SelfPlaySpec, place: Workplace): Promise<Table> {
  const { file } = spec.openings;
  const openings = { ...spec.openings, file: file === undefined ? undefined : place.path(file) };
  const player = await openSelfPlayer({ ...spec, openings, player: place.player(spec.player) }, place);
  return { player, slots: new Slots(player.concurrency) };
}

/** Closes a table when those who still play there have ended. */
async function forget(key: string, table: Promise<Table>): Promise<void> {
  tables.delete(key);
  const { player, slots } = await table;
  await slots.empty();
  await player.close();
}
