// Work that can be done anywhere: a job is plain JSON, its result bytes that follow from it alone. Doing one twice gives the
// same bytes and harms nobody.
import { z } from "zod";
import { parsePlain, UserError } from "#base";
import { parseSelfPlay, type SelfPlaySpec } from "#data";
import { sha256 } from "../stores/hash.js";

/** Games of self-play. The player's network is named by its hash, as sha256:HEX.safetensors@mcts; the result is a line for each game. */
export interface SelfPlayJob {
  kind: "selfplay";
  spec: SelfPlaySpec;
  games: number[]; // by number
}

export type Job = SelfPlayJob;

/** The name of a job: equal for equal work. */
export const jobId = (job: Job): Promise<string> => sha256(new TextEncoder().encode(JSON.stringify(job)));

const NAMED = /^sha256:([0-9a-f]{64})((?:\.[a-z]{1,12}){1,2})@/;

/** A network by its hash; the ending of its name tells what kind of file it is, as .safetensors. */
export interface NamedNetwork {
  hash: string;
  ending: string;
}

/** The network of a player, if it is named by its hash, as sha256:HEX.safetensors@mcts. */
export function namedNetwork(player: string): NamedNetwork | undefined {
  const match = NAMED.exec(player);
  return match ? { hash: match[1], ending: match[2] } : undefined;
}

/** The name of a network file for jobs. */
export const nameNetwork = (hash: string, path: string): string =>
  `sha256:${hash}${/((?:\.[a-z]{1,12}){1,2})$/.exec(path.toLowerCase())?.[1] ?? ".safetensors"}`;

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
  if (!namedNetwork(parsed.player) && !BARE_NETWORKS.includes(network))
    throw new UserError(
      "JOB_NETWORK",
      `job: its network is "${network}", expected one named by its hash, sha256:HEX.ENDING.`,
    );
  if (parsed.openings.file !== undefined)
    throw new UserError(
      "JOB_FILE",
      "job: it names a book of openings, and files of other machines cannot be read here.",
    );
  return { kind, spec: parsed, games };
}
