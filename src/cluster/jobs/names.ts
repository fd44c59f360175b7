// How jobs speak of files and players: by names that mean the same on every machine.
import { UserError } from "#base";
import { parsePlayer } from "#engine";

const NAMED = /^sha256:([0-9a-f]{64})((?:\.[a-z0-9]{1,12}){1,2})(?=@|$)/;
const ENGINE = /^[A-Za-z0-9][\w.-]{0,40}$/;

/** A file by its hash; the ending of its name tells what kind of file it is, as .safetensors. */
export interface NamedFile {
  hash: string;
  ending: string;
}

/** The file that a text begins with, as sha256:HEX.safetensors@mcts. */
export function namedFile(text: string): NamedFile | undefined {
  const match = NAMED.exec(text);
  return match ? { hash: match[1], ending: match[2] } : undefined;
}

export const nameFile = ({ hash, ending }: NamedFile): string => `sha256:${hash}${ending}`;

/** The ending that a network's file has for jobs. */
export const networkEnding = (path: string): string =>
  /((?:\.[a-z0-9]{1,12}){1,2})$/.exec(path.toLowerCase().replace(/^.*[\\/]/, ""))?.[1] ?? ".safetensors";

/** The same player with its network named by another text. */
export function renameNetwork(player: string, name: string): string {
  const at = player.lastIndexOf("@");
  return at < 0 ? name : name + player.slice(at);
}

/** Names that mean the same everywhere, without a file. */
export const BARE_NETWORKS: readonly string[] = ["uniform", "rollouts", "builtin", "random"];

/**
 * Refuses a player from elsewhere that could reach into this machine: networks must be named by their hashes, engines by a
 * name that this machine has a program for, without options that name files.
 */
export function checkPlayer(text: string): void {
  const spec = parsePlayer(text);
  if (spec.kind === "network") {
    if (namedFile(text) || BARE_NETWORKS.includes(spec.network)) return;
    throw new UserError(
      "JOB_NETWORK",
      `job: its network is "${spec.network}", expected one named by its hash, sha256:HEX.ENDING.`,
    );
  }
  const { program, args, options } = spec;
  if (!ENGINE.test(program) || args.length > 0)
    throw new UserError("JOB_ENGINE", `job: its engine is "${[program, ...args].join(" ")}", expected a name alone, as uci:stockfish.`); // biome-ignore format: a sentence
  for (const [name, value] of options)
    if (/file|path|log|book|dir/i.test(name) || /[\\/]/.test(value))
      throw new UserError("JOB_ENGINE", `job: the option ${name} of its engine names a file, and files of other machines cannot be used here.`); // biome-ignore format: a sentence
}

/** The name of the engine that a player of a job is; undefined for networks. */
export function engineOf(player: string): string | undefined {
  const spec = parsePlayer(player);
  return spec.kind === "uci" ? spec.program : undefined;
}
