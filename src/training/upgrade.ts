type Settings = Record<string, unknown>;

/** What the settings of runs lacked before a day, oldest first: each step fills in what was done without being said. */
const STEPS: readonly { date: string; step: (settings: Settings) => Settings }[] = [
  { date: "2026-11-16", step: (settings) => ({ start: "", ...settings }) }, // every run began with random weights
  {
    date: "2026-11-16", // and showed positions as they were
    step: (settings) => (settings.family === "residual" ? { augment: false, ...settings } : settings),
  },
  {
    date: "2026-11-18", // files of positions do not know repetitions
    step: (settings) => (settings.family === "residual" ? { repetitions: false, ...settings } : settings),
  },
  {
    date: "2026-11-18", // moves were learnt by their values alone, and queries saw the board by attention alone
    step: (settings) =>
      settings.family === "moe" ? { rankingWeight: 0, rankingScale: 0.05, linked: false, ...settings } : settings,
  },
  {
    date: "2026-11-18", // decoders learnt games alone
    step: (settings) =>
      settings.family === "decoder" ? { thinking: false, thinkingWeight: 1, ...settings } : settings,
  },
  {
    date: "2026-11-18", // and saw all boards, whose tokens weighed the same
    step: (settings) => (settings.family === "decoder" ? { skipBoards: 0, changeWeight: 1, ...settings } : settings),
  },
  {
    date: "2026-11-18", // and moves were their tokens alone
    step: (settings) => (settings.family === "decoder" ? { movesBySquares: false, ...settings } : settings),
  },
  {
    date: "2026-11-18", // every training was alone, and these make no difference to one
    step: (settings) =>
      "threads" in settings
        ? { roundSteps: 100, outerRate: 0.7, outerMomentum: 0.9, differences: "float32", ...settings }
        : settings,
  },
  {
    date: "2026-11-18", // every head saw every square
    step: (settings) =>
      settings.family === "moe" || settings.family === "decoder" ? { pieceHeads: 0, ...settings } : settings,
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
