import { UserError } from "#base";
import { checkPlayer, parsePlayer, readNetworkFile, type UciSpec } from "#engine";
import {
  BARE_NETWORKS,
  checkPlayer as checkJobPlayer,
  namedFile,
  nameFile,
  networkEnding,
  renameNetwork,
} from "../jobs/names.js";
import { sha256 } from "../stores/hash.js";
import type { FileStore } from "../stores/store.js";
import { patiently } from "./patience.js";

/** Files of jobs in a store, and players by names that every machine understands. */
export class JobFiles {
  readonly families = new Map<string, string>(); // of networks, by their hashes
  private readonly players = new Map<string, Promise<string>>();
  private readonly sources = new Map<string, () => Promise<Uint8Array>>(); // from which a lost file is put again

  constructor(
    readonly store: FileStore,
    private readonly engines: "as written" | "by name",
  ) {}

  /** Puts bytes that one job needs, and tells their name. */
  async put(bytes: Uint8Array, ending: string, again?: () => Promise<Uint8Array>): Promise<string> {
    const hash = await patiently(() => this.store.put(bytes, ending));
    this.sources.set(hash, again ?? (async () => bytes));
    return nameFile({ hash, ending });
  }

  putLines(lines: readonly string[]): Promise<string> {
    return this.put(new TextEncoder().encode(`${lines.join("\n")}\n`), ".txt");
  }

  /** Forgets a file that no other job needs. */
  async drop(name: string): Promise<void> {
    const file = namedFile(name);
    if (!file) return;
    this.sources.delete(file.hash);
    await this.store.remove(file.hash, file.ending);
  }

  /** Puts a file again that is missing or damaged; false if it was never ours. */
  async restore(hash: string, ending: string): Promise<boolean> {
    const bytes = await this.sources.get(hash)?.();
    if (!bytes || (await sha256(bytes)) !== hash) return false;
    await this.store.remove(hash, ending);
    await this.store.put(bytes, ending);
    return true;
  }

  /** The name of a player for jobs; its network is put into the store, once. */
  player(text: string): Promise<string> {
    const known = this.players.get(text) ?? this.namePlayer(text);
    this.players.set(text, known);
    known.catch(() => this.players.delete(text));
    return known;
  }

  private async namePlayer(text: string): Promise<string> {
    const spec = parsePlayer(text);
    if (spec.kind === "uci") return this.engines === "as written" ? text : nameEngine(text, spec);
    if (BARE_NETWORKS.includes(spec.network)) return text;
    await checkPlayer(text); // by the name that the user gave it
    const { bytes, path, family } = await readNetworkFile(spec.network);
    const name = await this.put(bytes, networkEnding(path), async () => (await readNetworkFile(spec.network)).bytes);
    this.families.set(namedFile(name)?.hash ?? "", family);
    return renameNetwork(text, name);
  }
}

/** An engine as workers know it: by the name of its program, wherever it lies. */
function nameEngine(text: string, { program, args }: UciSpec): string {
  const question = text.indexOf("?");
  const name = `uci:${program.replace(/^.*[\\/]/, "")}${question < 0 ? "" : text.slice(question)}`;
  if (args.length > 0)
    throw new UserError("JOB_ENGINE", `player "${text}": on a cluster an engine is named alone. Its arguments are given to the workers when they are started (tabiya worker).`); // biome-ignore format: a sentence
  checkJobPlayer(name);
  return name;
}
