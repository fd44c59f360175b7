import { UserError } from "#base";
import type { Color } from "#chess";
import { type GameBlock, parseVariant, RESULTS, type Result, type Variant } from "#formats";

/** Lichess's classes, by the time a game of forty moves would take: seconds + 40 * increment. */
export const TIME_CLASSES = ["ultrabullet", "bullet", "blitz", "rapid", "classical", "correspondence"] as const;
export type TimeClass = (typeof TIME_CLASSES)[number];
const LIMITS = [30, 180, 480, 1500]; // seconds below which a game is of the first classes

/** Which games to keep; what is not given keeps all. */
export interface GameFilter {
  minRating?: number; // of both players
  player?: string; // one of the two has this name; capitals do not matter
  timeClasses?: readonly TimeClass[];
  variants: readonly Variant[];
  results?: readonly Result[];
  minPlies?: number;
  maxPlies?: number;
}

/** The class of a TimeControl tag; undefined if it says nothing. */
export function timeClassOf(control: string | undefined): TimeClass | undefined {
  if (control === undefined || control === "" || control === "?") return undefined;
  if (control === "-") return "correspondence"; // no limit
  let seconds = 0;
  for (const stage of control.split(":")) {
    const found = /^(?:(\d+)\/)?(\d+(?:\.\d+)?)(?:\+(\d+(?:\.\d+)?))?$/.exec(stage.trim());
    if (!found) return undefined;
    const [, moves, base, increment = "0"] = found;
    if (moves === "1" && Number(base) >= 86_400) return "correspondence"; // days for each move
    seconds += Number(base) + 40 * Number(increment);
  }
  if (seconds >= 86_400) return "correspondence";
  const index = LIMITS.findIndex((limit) => seconds < limit);
  return TIME_CLASSES[index < 0 ? LIMITS.length : index];
}

/** The side that a player of this name has in a game. */
export function colorOf(block: GameBlock, game: number, player: string): Color | undefined {
  const wanted = player.trim().toLowerCase();
  const isSide = (tag: string) => block.tag(game, tag)?.trim().toLowerCase() === wanted;
  return isSide("White") ? "white" : isSide("Black") ? "black" : undefined;
}

/** Why a game is left out, as the key of a count; undefined if it is kept. */
export function refuseGame(block: GameBlock, game: number, filter: GameFilter): string | undefined {
  const unknown = block.unsupportedVariant(game);
  if (unknown !== undefined) return `variant ${unknown}`;
  const variantTag = block.tag(game, "Variant");
  const variant = parseVariant(variantTag);
  if (variant === undefined || !filter.variants.includes(variant)) return `variant ${variantTag ?? "Standard"}`;
  if (filter.player !== undefined && colorOf(block, game, filter.player) === undefined) return "other players";
  const result = block.result(game);
  if (result === "*") return "no result";
  if (filter.results && !filter.results.includes(result)) return `result ${result}`;
  if (filter.minRating !== undefined) {
    const white = block.tagNumber(game, "WhiteElo");
    const black = block.tagNumber(game, "BlackElo");
    if (white === undefined || black === undefined) return "no rating";
    if (Math.min(white, black) < filter.minRating) return "rating";
  }
  if (filter.timeClasses) {
    const found = timeClassOf(block.tag(game, "TimeControl"));
    if (found === undefined) return "no time control";
    if (!filter.timeClasses.includes(found)) return `time class ${found}`;
  }
  const plies = block.plies(game);
  if (plies === 0) return "no moves";
  if (filter.minPlies !== undefined && plies < filter.minPlies) return "too short";
  if (filter.maxPlies !== undefined && plies > filter.maxPlies) return "too long";
  return undefined;
}

/** A list of words from a flag, each one of those allowed. */
export function parseChoices<T extends string>(flag: string, text: string, allowed: readonly T[]): T[] {
  return text.split(",").map((word) => {
    const found = allowed.find((each) => each === word.trim().toLowerCase());
    if (found === undefined) {
      throw new UserError("OPTION_VALUE", `--${flag}: "${word.trim()}" is not one of ${allowed.join(", ")}.`);
    }
    return found;
  });
}

/** Results by how a flag names them: 1-0, 0-1, 1/2-1/2, or white, black, draw, decisive. */
export function parseResults(text: string): Result[] {
  const NAMES: Record<string, Result[]> = {
    white: ["1-0"],
    black: ["0-1"],
    draw: ["1/2-1/2"],
    decisive: ["1-0", "0-1"],
    "1-0": ["1-0"],
    "0-1": ["0-1"],
    "1/2-1/2": ["1/2-1/2"],
  };
  return parseChoices("result", text, Object.keys(NAMES)).flatMap((word) => NAMES[word]);
}

/** White's result as a number. */
export const resultNumber = (result: Result): number => [0, 1, -1, 0][RESULTS.indexOf(result)];
