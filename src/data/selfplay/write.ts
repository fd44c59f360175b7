import { createOutput, UserError } from "#base";
import { parseFen, parseUci, START_FEN } from "#chess";
import { createRecords, formatGame, formatOf, kindsOf, NO_EVAL, type RecordWriter } from "#formats";
import { POLICY_TABLE, policyRecords, type SelfPlayGame, scoredRecords } from "./game.js";
import type { SelfPlayer } from "./self-player.js";

/** How games become a file: as PGN, or as records to learn from. */
export type OutputKind = "pgn" | "policy" | "scored";

/** What a file can hold of games, by its name; one that can hold nothing of them is refused. */
export function outputKind(to: string, player: SelfPlayer["kind"]): OutputKind {
  if (/\.pgn(\.(gz|zst))?$/i.test(to)) return "pgn";
  const format = formatOf(to);
  if (format === "jsonl" || format === "parquet") return player === "tree" ? "policy" : "scored";
  if (format !== undefined && format !== "bullet" && kindsOf(format)?.includes("scored")) return "scored";
  throw new UserError(
    "SELFPLAY_OUTPUT",
    `${to}: games of self-play are written as .jsonl or .parquet (policies and values), .bin, .binpack or .plain (scores), or .pgn.`,
  );
}

/** Writes games in their order; nothing is seen under the name before all are written. */
export async function writeGames(to: string, kind: OutputKind, games: AsyncIterable<SelfPlayGame>): Promise<void> {
  const writer = kind === "pgn" ? await createPgn(to) : await createGameRecords(to, kind);
  try {
    for await (const game of games) await writer.write(game);
    await writer.commit();
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

type GameWriter = Pick<RecordWriter, "commit" | "abort"> & { write(game: SelfPlayGame): Promise<void> };

async function createGameRecords(to: string, kind: "policy" | "scored"): Promise<GameWriter> {
  const writer = await createRecords(to, kind === "policy" ? { moves: POLICY_TABLE } : {});
  return {
    write: (game) => writer.write(kind === "policy" ? policyRecords(game) : scoredRecords(game)),
    commit: () => writer.commit(),
    abort: () => writer.abort(),
  };
}

async function createPgn(to: string): Promise<GameWriter> {
  const output = await createOutput(to);
  return {
    async write(game) {
      await output.write(formatSelfPlay(game));
    },
    commit: () => output.commit(),
    abort: () => output.abort(),
  };
}

const RESULTS = { "-1": "0-1", "0": "1/2-1/2", "1": "1-0" } as const;

/** A game as PGN, with what the player thought of each of its moves. */
function formatSelfPlay({ game, fen, moves, opening, scores, result, reason }: SelfPlayGame): string {
  const start = parseFen(fen);
  const position = start.clone();
  const evals = [NO_EVAL]; // before the first move
  for (const [ply, word] of moves.entries()) {
    const scoreCp = scores[ply - opening];
    evals.push(scoreCp === undefined ? NO_EVAL : position.turn === "white" ? scoreCp : -scoreCp);
    position.play(parseUci(position, word) ?? 0);
  }
  const tags = new Map([
    ["Event", "Tabiya self-play"],
    ["Round", String(game + 1)],
    ["Result", RESULTS[`${result}`]],
  ]);
  if (fen !== START_FEN) tags.set("SetUp", "1").set("FEN", fen);
  tags.set("PlyCount", String(moves.length)).set("Reason", reason);
  return formatGame({ tags, result: RESULTS[`${result}`], start, moves: position.history, evals });
}
