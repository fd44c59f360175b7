import { earlierSettings } from "./tasks.js";

type Settings = Record<string, unknown>;

/** What the settings of runs lacked before a day, oldest first: each step fills in what was done without being said. */
const STEPS: readonly { date: string; step: (settings: Settings) => Settings }[] = [
  { date: "2026-11-16", step: (settings) => ({ start: "", ...settings }) }, // every run began with random weights
  { date: "2026-11-18", step: (settings) => ({ ...earlierSettings(settings.family), ...settings }) }, // each family's own
  {
    date: "2026-11-18", // every training was alone, and these make no difference to one
    step: (settings) =>
      "threads" in settings
        ? { roundSteps: 100, outerRate: 0.7, outerMomentum: 0.9, differences: "float32", ...settings }
        : settings,
  },
  {
    date: "2026-11-18", // nnue said "N of M records" of its files, the other families "first N of M records" where N is less
    step: (settings) => ({
      ...settings,
      ...mapped(settings, ["dataFingerprint", "validationFingerprint"], (text) =>
        text.replace(/(^|; )(\d+) of (\d+) records/g, (_, start, first, all) =>
          first === all ? `${start}${all} records` : `${start}first ${first} of ${all} records`,
        ),
      ),
    }),
  },
];

const mapped = (settings: Settings, keys: readonly string[], change: (text: string) => string): Settings =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const value = settings[key];
      return typeof value === "string" ? [[key, change(value)]] : [];
    }),
  );

/** The settings of a run that an older version began, as this version would have written them. */
export const upgradeSettings = (settings: Settings): Settings =>
  STEPS.reduce((upgraded, { step }) => step(upgraded), settings);
