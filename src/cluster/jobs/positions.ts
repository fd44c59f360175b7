import * as z from "zod";
import { readText } from "#base";
import { answerPositions, labelQuestion, variationQuestion } from "#data";
import { resolvePlayer } from "#engine";
import type { Workplace } from "./kind.js";
import { LIMITS_SCHEMA, linesOf } from "./lines.js";
import { namedFile } from "./names.js";
import { onePlayerKind } from "./one-player.js";

const FILE = z.string().refine((name) => namedFile(name), "Expected a file named by its hash");
const ASKED = { player: z.string(), limits: LIMITS_SCHEMA, positions: FILE };

const LABEL_SCHEMA = z.strictObject({ kind: z.literal("label"), ...ASKED, allMoves: z.boolean() });
const VARIATIONS_SCHEMA = z.strictObject({ kind: z.literal("variations"), ...ASKED, multiPv: z.int().min(1).max(256) });

/** Values of positions, or of all their moves; the positions stand in a file, a FEN a line. */
export type LabelJob = z.infer<typeof LABEL_SCHEMA>;
/** The best lines of positions. */
export type VariationsJob = z.infer<typeof VARIATIONS_SCHEMA>;

type Question = Parameters<typeof answerPositions>[0];

/** The result is a line for each position: the answer, or why it was given up. */
async function answer(
  { player, limits, positions }: LabelJob | VariationsJob,
  question: Question,
  place: Workplace,
  signal: AbortSignal,
): Promise<string[]> {
  const fens = linesOf(await readText(place.path(positions)));
  const troubles: string[] = [];
  const local = place.player(player);
  const answers = await answerPositions(question, fens, {
    create: () => resolvePlayer(local),
    limits,
    signal,
    onTrouble: (message) => troubles.push(message.replaceAll(local, player)),
  });
  return answers.map((found, i) => {
    if (found) return JSON.stringify(found);
    return JSON.stringify({ fault: troubles.findLast((text) => text.includes(fens[i])) ?? "given up" });
  });
}

export const LABEL = onePlayerKind<LabelJob>({
  schema: LABEL_SCHEMA,
  file: ({ positions }) => positions,
  run: (job, place, signal) => answer(job, labelQuestion(job.allMoves), place, signal),
});

export const VARIATIONS = onePlayerKind<VariationsJob>({
  schema: VARIATIONS_SCHEMA,
  file: ({ positions }) => positions,
  run: (job, place, signal) => answer(job, variationQuestion(job.multiPv), place, signal),
});
