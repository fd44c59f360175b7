import type { ShippedNet } from "#models";
import { Store } from "./store.js";

/**
 * Ways in which a network of a family can play, the usual one first; as behind the @ of a player. The engine's own table comes
 * with all that plays, which the page loads in workers only; a test holds the two together.
 */
const SEARCHES: Readonly<Record<string, readonly string[]>> = {
  nnue: ["ab", "mcts"],
  residual: ["mcts", "none"],
  lc0: ["none", "mcts"],
  moe: ["none", "mcts"],
  decoder: ["think", "none", "mcts"],
  random: [""],
};

export const SEARCH_NAMES: Readonly<Record<string, string>> = {
  ab: "alpha-beta",
  mcts: "tree search",
  none: "no search",
  think: "thoughts",
  "": "no thought",
};

/** A network that can take a seat. */
export interface NetworkEntry {
  id: string;
  name: string;
  family: string;
  address: string; // where a worker finds it
  origin: "box" | "dropped" | "server" | "program" | "trained here";
  label?: ShippedNet; // of a network in the box
  bytes?: number;
  searches?: readonly string[]; // it can be played with, where its file was asked
  facts?: Readonly<Record<string, string>>; // what its file says of itself
  trouble?: string; // why it cannot play
}

const RANDOM: NetworkEntry = {
  id: "random",
  name: "Random moves",
  family: "random",
  address: "random",
  origin: "program",
};

/** Families by the ends of file names; a .safetensors or .onnx says itself what it is, once it is loaded. */
const ENDINGS: readonly (readonly [RegExp, string])[] = [
  [/\.(tnn|nnue|jnn)$/i, "nnue"],
  [/\.pb(\.gz)?$/i, "lc0"],
  [/\.(safetensors|onnx)$/i, "residual"],
];

export const isNetworkFile = (name: string): boolean => ENDINGS.some(([ending]) => ending.test(name));

const familyOf = (name: string): string => ENDINGS.find(([ending]) => ending.test(name))?.[1] ?? "residual";

/** The networks one can choose: those in the box, those that were dropped, and what the server offers. */
export class Networks extends Store {
  all: readonly NetworkEntry[] = [RANDOM];

  /** Those of nets/manifest.json; `address` tells where a file of that folder is. */
  addShipped(nets: readonly ShippedNet[], address: (file: string) => string): void {
    const entries = nets.map(
      (label): NetworkEntry => ({
        id: label.file,
        name: label.file.replace(/\.[a-z.]+$/i, ""),
        family: label.family,
        address: address(label.file),
        origin: "box",
        label,
      }),
    );
    this.all = [...entries, ...this.all];
    this.changed();
  }

  /** A file of the user's; one of the same name and size is not added twice. */
  addFile(file: { name: string; size: number }, address: string): NetworkEntry {
    const known = this.all.find(({ id, bytes }) => id === file.name && bytes === file.size);
    if (known) return known;
    const taken = this.all.filter(({ name }) => name === file.name).length;
    const id = taken > 0 ? `${file.name} (${taken + 1})` : file.name;
    const entry: NetworkEntry = {
      id,
      name: id,
      family: familyOf(file.name),
      address: `${address}#${encodeURIComponent(file.name)}`,
      origin: "dropped",
      bytes: file.size,
    };
    this.all = [...this.all, entry];
    this.changed();
    return entry;
  }

  /** A network that others change: one of the same id is replaced by what it is now. */
  put(entry: NetworkEntry): void {
    const isKnown = this.find(entry.id) !== undefined;
    this.all = isKnown ? this.all.map((each) => (each.id === entry.id ? entry : each)) : [...this.all, entry];
    this.changed();
  }

  /** Notes what was found out about a network. */
  note(id: string, found: Partial<NetworkEntry>): void {
    this.all = this.all.map((entry) => (entry.id === id ? { ...entry, ...found } : entry));
    this.changed();
  }

  remove(id: string): void {
    this.all = this.all.filter((entry) => entry.id !== id);
    this.changed();
  }

  find(id: string): NetworkEntry | undefined {
    return this.all.find((entry) => entry.id === id);
  }
}

export const searchesOf = ({ family, searches }: NetworkEntry): readonly string[] =>
  searches ?? SEARCHES[family] ?? ["none"];

/** The text by which a player is made of a network: `nets/x.tnn@ab`. */
export function playerText(
  { address }: NetworkEntry,
  search: string,
  { elo, threads = 1 }: { elo?: number; threads?: number } = {},
): string {
  if (search === "") return address;
  const options = new URLSearchParams();
  if (elo !== undefined) {
    options.set("limitStrength", "true");
    options.set("elo", String(elo));
  }
  if (search === "ab" && threads > 1) options.set("threads", String(threads));
  return `${address}@${search}${options.size > 0 ? `?${options}` : ""}`;
}
