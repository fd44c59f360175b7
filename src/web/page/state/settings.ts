import { Store } from "./store.js";

export const THEMES = ["auto", "dark", "light"] as const;
export const BOARD_THEMES = ["walnut", "sea", "meadow", "plum", "slate", "dusk", "paper", "contrast"] as const;
export const PIECE_SETS = ["cburnett", "flat", "letters", "ink", "gold"] as const;

export interface SettingValues {
  theme: (typeof THEMES)[number];
  board: (typeof BOARD_THEMES)[number];
  pieces: (typeof PIECE_SETS)[number];
  sound: boolean;
  arrows: boolean; // what networks think, on the board
  gauge: "wdl" | "cp";
}

export const DEFAULTS: SettingValues = {
  theme: "auto",
  board: "walnut",
  pieces: "cburnett",
  sound: true,
  arrows: true,
  gauge: "wdl",
};

const KEY = "tabiya-settings";

/** What a person likes, kept in the browser. */
export class Settings extends Store {
  values: SettingValues = DEFAULTS;

  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem"> | undefined) {
    super();
    try {
      this.values = { ...DEFAULTS, ...JSON.parse(storage?.getItem(KEY) ?? "{}") };
    } catch {
      // Not ours, or damaged: the defaults do.
    }
  }

  set<K extends keyof SettingValues>(name: K, value: SettingValues[K]): void {
    this.values = { ...this.values, [name]: value };
    try {
      this.storage?.setItem(KEY, JSON.stringify(this.values));
    } catch {
      // A full or forbidden storage only means that it is asked again next time.
    }
    this.changed();
  }
}
