import { type OptionTable, type OptionValues, TEMPERATURE } from "../options.js";

/** Everything about thinking that can be chosen. docs/decoder.md says what each is good for. */
export const THINK_OPTIONS = {
  tokens: {
    type: "integer",
    default: 568,
    min: 68,
    max: 2048,
    help: "most tokens a thought may have, the board and the move to play included",
  },
  variations: { type: "integer", default: 3, min: 0, max: 32, help: "most variations a thought may have" },
  depth: { type: "integer", default: 5, min: 1, max: 32, help: "most moves of a variation" },
  temperature: {
    ...TEMPERATURE,
    help: "0 thinks of and plays the likeliest moves; else they are drawn, by share ^ (1 / temperature)",
  },
  weigh: {
    type: "number",
    default: 0,
    min: 0,
    max: 100,
    help:
      "0 plays what the network says after its thoughts; else the first sight of the position decides, with so much weight " +
      "on what its variations end in",
  },
  trust: {
    type: "choice",
    default: "forced",
    choices: ["forced", "checked"],
    help: "boards that come out wrong in thought are put right (forced), or end their variation (checked)",
  },
  content: {
    type: "choice",
    default: "own",
    choices: ["own", "random", "shuffled", "foreign"],
    help:
      "what is read before the move: its own variations; those of random legal moves; its own in a random order; those " +
      "of another position. All but own are controls that tell what thinking is good for",
  },
  always: {
    type: "check",
    default: false,
    help: "thinks until tokens, variations and depth are used up, whether the network would go on or not",
  },
} as const satisfies OptionTable;

/** The options of thinking in variations, with their values. */
export type ThinkSettings = OptionValues<typeof THINK_OPTIONS>;
