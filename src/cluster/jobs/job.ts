// Work that can be done anywhere: a job is plain JSON, its result bytes that follow from it alone. Doing one twice gives the
// same bytes and harms nobody.
import { z } from "zod";
import { parsePlain, UserError } from "#base";
import { parseSelfPlay, type SelfPlaySpec } from "#data";
import { sha256 } from "../stores/hash.js";

/** Games of self-play. The player's network is named by its hash, as sha256:HEX@mcts; the result is a line for each game. */
export interface SelfPlayJob {
  kind: "selfplay";
  spec: SelfPlaySpec;
  games: number[]; // by number
}

export type Job = SelfPlayJob;

/** The name of a job: equal for equal work. */
export const jobId = (job: Job): Promise<string> => sha256(new TextEncoder().encode(JSON.stringify(job)));

const NAMED = /^sha256:([0-9a-f]{64})(@.*)?$/s;

/** The hash by which a player names its network; undefined if it names it otherwise. */
export const networkHash = (player: string): string | undefined => NAMED.exec(player)?.[1];

/** The same player with its network named by another text. */
export function renameNetwork(player: string, name: string): string {
  const at = player.lastIndexOf("@");
  if (at < 0) throw new UserError("PLAYER_SYNTAX", `player "${player}": the search is missing, as NET@mcts.`);
  return name + player.slice(at);
}

/** Names that mean the same everywhere, without a file. */
export const BARE_NETWORKS: readonly string[] = ["uniform", "rollouts", "builtin"];

const SCHEMA = z.strictObject({ kind: z.literal("selfplay"), spec: z.unknown(), games: z.array(z.int().min(0)).min(1).max(1000) }); // biome-ignore format: a list

/** Checks a job that came from elsewhere: it may name networks by their hashes and nothing else of this machine. */
export function parseJob(value: unknown): Job {
  const { kind, spec, games } = parsePlain(SCHEMA, value, "job");
  const parsed = parseSelfPlay(spec, "job");
  const network = parsed.player.slice(0, Math.max(0, parsed.player.lastIndexOf("@")));
  if (networkHash(parsed.player) === undefined && !BARE_NETWORKS.includes(network))
    throw new UserError("JOB_NETWORK", `job: its network is "${network}", expected one named by its hash, sha256:HEX.`);
  if (parsed.openings.file !== undefined)
    throw new UserError(
      "JOB_FILE",
      "job: it names a book of openings, and files of other machines cannot be read here.",
    );
  return { kind, spec: parsed, games };
}
