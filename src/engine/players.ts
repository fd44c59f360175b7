// The one place where the text a user writes for a player becomes a player.
import { suggestion, UserError } from "#base";
import { shippedNets } from "#models";
import { BUILTIN } from "./alphabeta-engine.js";
import { ALPHA_BETA } from "./alphabeta-player.js";
import { BASELINES } from "./evaluators/open.js";
import { PLAYING_FAMILIES, SEARCHES, type SearchName } from "./families.js";
import { MCTS } from "./mcts-player.js";
import { familyOf } from "./network-file.js";
import type { Player } from "./player.js";
import { RandomPlayer } from "./random-player.js";
import { SearchPlayer } from "./search-player.js";
import { SearchlessPlayer } from "./searchless-player.js";
import { THINK } from "./think-player.js";
import type { UciTimes } from "./uci-client.js";
import { UciPlayer } from "./uci-player.js";

/** `net[@search[:nodes][?option=value&...]]`, taken apart. */
export interface NetworkSpec {
  kind: "network";
  network: string; // the name of a shipped network, or a file
  search: string | undefined; // undefined: the usual one of the network's family
  nodes: number | undefined;
  options: Map<string, string>; // of the search
}

/** `uci:COMMAND?Option=Value&...`, taken apart and decoded. */
export interface UciSpec {
  kind: "uci";
  program: string;
  args: string[];
  options: Map<string, string>;
}

/** A player's text, taken apart. */
export type PlayerSpec = NetworkSpec | UciSpec;

/** How a player is made from its text. */
export interface PlayerOptions {
  times?: Partial<UciTimes>; // patience with foreign engines
  steady?: boolean; // what a network says without search does not depend on what others ask it at the same time
}

/** The parts of a player with a network, after its search was settled. */
type Settled = NetworkSpec & { name: string; steady: boolean };

/** Players that need no network. */
const ALONE: Record<string, (name: string) => Player> = {
  random: (name) => new RandomPlayer(name),
};

/** Who builds the player for what is written behind the @. */
const BUILDERS: Record<SearchName, (spec: Settled) => Promise<Player>> = {
  ab: (spec) => SearchPlayer.open(ALPHA_BETA, spec),
  mcts: (spec) => SearchPlayer.open(MCTS, spec),
  none: (spec) => SearchlessPlayer.open(spec),
  think: (spec) => SearchPlayer.open(THINK, spec),
};

/** Searches that a network can be played with, the usual one first. */
async function searchesFor(network: string): Promise<readonly SearchName[]> {
  if (network === BUILTIN) return ["ab"];
  if (Object.hasOwn(BASELINES, network)) return ["mcts"];
  return PLAYING_FAMILIES[await familyOf(network)].searches;
}

const malformed = (text: string, why: string) =>
  new UserError(
    "PLAYER_SYNTAX",
    `player "${text}": ${why}\nA player is NET[@SEARCH[:NODES]], as random or nnue@ab, or uci:COMMAND?Option=Value&Option=Value.`,
  );

function decode(text: string, whole: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw malformed(whole, `"${text}" is not percent-encoded text; write a bare % as %25.`);
  }
}

/** Words between blanks; a word in double quotes may hold blanks, and so may one that has them as %20. */
function splitCommand(command: string, whole: string): string[] {
  return [...command.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, quoted, bare]) => quoted ?? decode(bare, whole));
}

function parseUciPlayer(text: string): UciSpec {
  const rest = text.slice("uci:".length);
  const question = rest.indexOf("?");
  const [program, ...args] = splitCommand(question < 0 ? rest : rest.slice(0, question), text);
  if (program === undefined) throw malformed(text, "the command is missing.");
  return { kind: "uci", program, args, options: parseOptions(question < 0 ? "" : rest.slice(question + 1), text) };
}

/** `Option=Value&...` */
function parseOptions(list: string, whole: string): Map<string, string> {
  const options = new Map<string, string>();
  for (const part of list.split("&")) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    if (equals <= 0) throw malformed(whole, `"${part}" is not Option=Value.`);
    options.set(decode(part.slice(0, equals), whole), decode(part.slice(equals + 1), whole));
  }
  return options;
}

/** Takes the text of a player apart; says nothing yet of whether there is such a network or engine. */
export function parsePlayer(text: string): PlayerSpec {
  if (text.startsWith("uci:")) return parseUciPlayer(text);
  // The last @ counts, so that a path may hold one.
  const at = text.lastIndexOf("@");
  const [network, search] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
  if (network === "") throw malformed(text, "the network is missing.");
  if (search === undefined)
    return { kind: "network", network, search: undefined, nodes: undefined, options: new Map() };
  const match = /^([^:?]+)(?::(\d+))?(?:\?(.*))?$/.exec(search);
  if (!match) throw malformed(text, `"@${search}" is not @SEARCH or @SEARCH:NODES.`);
  const nodes = match[2] === undefined ? undefined : Number(match[2]);
  if (nodes === 0) throw malformed(text, "a search needs at least one node.");
  return { kind: "network", network, search: match[1], nodes, options: parseOptions(match[3] ?? "", text) };
}

/** Makes the player that `text` names: starts the engine, or loads the network. The caller closes it. */
export async function resolvePlayer(text: string, options: PlayerOptions = {}): Promise<Player> {
  return (await planPlayer(text, options))();
}

/** Throws in words if `text` names no player; starts no engine and loads no weights. */
export async function checkPlayer(text: string): Promise<void> {
  await planPlayer(text, {});
}

/** What makes the player, once it is known that there is one. */
async function planPlayer(text: string, options: PlayerOptions): Promise<() => Player | Promise<Player>> {
  const spec = parsePlayer(text);
  if (spec.kind === "uci") return () => UciPlayer.create(text, spec, options.times);
  const { network } = spec;
  if (Object.hasOwn(ALONE, network)) {
    if (spec.search !== undefined) throw malformed(text, `${network} takes no search.`);
    return () => ALONE[network](text);
  }
  if (spec.search !== undefined && !isSearch(spec.search)) {
    throw new UserError(
      "PLAYER_UNKNOWN",
      `player "${text}": there is no search "${spec.search}".${suggestion(spec.search, SEARCHES)}` +
        `\nThere are: ${SEARCHES.join(", ")}.`,
    );
  }
  const searches = await searchesFor(spec.network).catch((error) => explain(text, spec.network, error));
  const search = spec.search ?? searches[0];
  if (!searches.includes(search)) {
    throw new UserError(
      "PLAYER_SEARCH",
      `player "${text}": a network like this cannot be played with @${search}; it can with ${searches.map((name) => `@${name}`).join(", ")}.`,
    );
  }
  return () => BUILDERS[search]({ ...spec, name: text, steady: options.steady ?? false });
}

const isSearch = (text: string): text is SearchName => (SEARCHES as readonly string[]).includes(text);

/** A network that is not there may be a mistyped player: says what players there are. */
async function explain(text: string, network: string, error: unknown): Promise<never> {
  if (!(error instanceof UserError) || error.code !== "FILE_MISSING") throw error;
  const shipped = (await shippedNets()).map(({ family }) => family);
  const known = [...new Set([...Object.keys(ALONE), ...shipped, BUILTIN, ...Object.keys(BASELINES)])];
  throw new UserError(
    "PLAYER_UNKNOWN",
    `player "${text}": there is no such player, and no file or run "${network}".${suggestion(network, known)}` +
      `\nThere are: ${known.join(", ")}, any file or run of a network, and uci:COMMAND; ` +
      `searches are ${SEARCHES.map((name) => `@${name}`).join(", ")}.`,
    { cause: error },
  );
}
