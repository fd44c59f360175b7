import { formatUci, type Position, wdlOfScore } from "#chess";
import { type ByMove, type Line, PlayerFault } from "#engine";
import type { DataRecord } from "#formats";
import { type AskOptions, type AskResult, askPositions, type Question } from "./ask.js";

/** How a player writes variations to positions. */
export interface VariationOptions extends AskOptions {
  player: string; // for the journal
  multiPv: number; // variations of a position at most
}

/** A line that a player looked at: what training takes for a variation of thought. q is win minus loss, d the share of draws. */
export interface Variation {
  move: string; // in UCI
  visits: number | null; // null: the player counts none
  q: number;
  d: number;
  pv: string[]; // from `move` on
}

interface Answer {
  variations: Variation[];
}

/** The best lines of a position, so many at most. */
export const variationQuestion = (multiPv: number): Question<Answer> => ({
  multiPv: (legal) => Math.min(legal, multiPv),
  answerOf: ({ lines, visits }, position) => ({ variations: variationsOf(lines, visits, position) }),
});

/**
 * Lets a player look at the positions of a file, and writes its root moves, their values and principal variations with the
 * columns of ChessDecoder's tables.
 */
export async function writeVariations(
  from: string,
  to: string,
  options: VariationOptions,
): Promise<AskResult & { variations: number }> {
  const { player, limits, multiPv } = options;
  let variations = 0;
  let game = -1; // of the last record
  let lastPly = Number.POSITIVE_INFINITY;
  const result = await askPositions<Answer>(
    from,
    to,
    {
      header: { variations: 1, player, limits, multiPv },
      ...variationQuestion(multiPv),
      recordsOf(record, { variations: found }) {
        const { ply = 0, move } = record;
        if (ply <= lastPly) game++; // plies count up within a game
        lastPly = ply;
        variations += found.length;
        const [best] = found;
        const row: DataRecord = {
          fen: record.fen,
          game_id: String(Math.max(0, game)),
          ply,
          best_move: best.move,
          root_q: best.q,
          root_d: best.d,
          best_q: best.q,
          best_d: best.d,
          visits: found.reduce((sum, each) => sum + (each.visits ?? 0), 0),
          variations: JSON.stringify(found),
          mcts_action: best.move,
          mcts_value: best.q,
          played_move: typeof move === "string" ? move : best.move,
        };
        return [row];
      },
    },
    options,
  );
  return { ...result, variations };
}

function variationsOf(lines: readonly Line[], visits: ByMove | undefined, position: Position): Variation[] {
  const found = lines.flatMap(({ scoreCp, wdl, pv }): Variation[] => {
    if (scoreCp === undefined || pv[0] === undefined) return [];
    const [win, draw, loss] = wdl ?? wdlOfScore(scoreCp, position.material());
    const q = (win - loss) / 1000;
    return [{ move: pv[0], visits: visits?.[pv[0]] ?? null, q, d: draw / 1000, pv: [...pv] }];
  });
  if (found.length > 0) return found;
  throw new PlayerFault(
    "illegal move",
    `gave no line with a score, first move ${formatUci(position, position.moves()[0])}.`,
  );
}
