// The one place where the text a user writes for a player becomes a player.
import { suggestion, UserError } from "#base";
import { createAlphaBeta } from "./alphabeta-engine.js";
import { AlphaBetaPlayer } from "./alphabeta-player.js";
import type { Player } from "./player.js";
import { RandomPlayer } from "./random-player.js";
import { loadSearchless } from "./searchless.js";
import type { UciTimes } from "./uci-client.js";
import { UciPlayer } from "./uci-player.js";

/** `net[@search[:nodes][?option=value&...]]`, taken apart. */
export interface NetworkSpec {
  kind: "network";
  network: string; // the name of a shipped network, or a file
  search: string | undefined; // undefined: the network's usual one
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

export type PlayerSpec = NetworkSpec | UciSpec;

export interface PlayerOptions {
  times?: Partial<UciTimes>; // patience with foreign engines
}

type Build = (spec: NetworkSpec, name: string, options: PlayerOptions) => Promise<Player> | Player;

/** Players that need no network. */
const ALONE: Record<string, Build> = {
  random: (_, name) => new RandomPlayer(name),
};

/** What can be written behind the @, and who builds the player: each search adds its line here. */
const SEARCHES: Record<string, Build> = {
  ab: async ({ network, nodes }, name) => new AlphaBetaPlayer(name, (await createAlphaBeta(network)).search, nodes),
  none: ({ network, options }, name) => loadSearchless(name, network, options),
};

/** The search of a network for which none was written. */
const usualSearch = (network: string): string | undefined =>
  network === "nnue" || network === "builtin" || /\.(nnue|jnn|tnn)$/i.test(network) ? "ab" : undefined;

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
  const spec = parsePlayer(text);
  if (spec.kind === "uci") return UciPlayer.create(text, spec, options.times);
  const alone = Object.hasOwn(ALONE, spec.network) ? ALONE[spec.network] : undefined;
  if (alone) {
    if (spec.search !== undefined) throw malformed(text, `${spec.network} takes no search.`);
    return alone(spec, text, options);
  }
  const searches = Object.keys(SEARCHES);
  spec.search ??= usualSearch(spec.network);
  if (spec.search !== undefined && !searches.includes(spec.search)) {
    throw new UserError(
      "PLAYER_UNKNOWN",
      `player "${text}": there is no search "${spec.search}".${suggestion(spec.search, searches)}` +
        `\nThere is: ${searches.join(", ") || "none"}.`,
    );
  }
  if (spec.options.size > 0 && spec.search !== "none") throw malformed(text, `@${spec.search} takes no options here.`);
  if (spec.search !== undefined) return SEARCHES[spec.search](spec, text, options);
  const known = [...Object.keys(ALONE), "uci:COMMAND"];
  throw new UserError(
    "PLAYER_UNKNOWN",
    `player "${text}": there is no such player or network.${suggestion(text, known)}\nThere is: ${known.join(", ")}.`,
  );
}
