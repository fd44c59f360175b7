import { workInSlots } from "#base";
import type { SelfPlayGame } from "./game.js";
import { GameJournal, type SelfPlayCounts } from "./game-journal.js";
import { openSelfPlayer, selfPlayKind } from "./self-player.js";
import { parseSelfPlay, type SelfPlayInput, type SelfPlaySpec } from "./spec.js";
import { outputKind, writeGames } from "./write.js";

/** Plays the games of these numbers and hands each over as it ends, in any order. */
export type PlayGames = (
  spec: SelfPlaySpec,
  games: Iterable<number>,
  onGame: (game: SelfPlayGame) => Promise<void>,
  signal: AbortSignal,
) => Promise<void>;

/** Who plays, and who is told. */
export interface SelfPlayRunOptions {
  signal?: AbortSignal; // stops it; finished games wait beside the output for the next call
  play?: PlayGames; // who plays; this thread by default
  keepGames?: boolean; // leaves the journal of the games beside the output
  onProgress?(counts: SelfPlayCounts, before: number): void; // `before`: games of an earlier run
}

/** What was played and written, and how long it took. */
export type SelfPlayResult = SelfPlayCounts & { seconds: number };

/**
 * Lets a player play itself and writes what can be learnt of it. Finished games are kept in a journal beside the output, so
 * that after a kill the same call plays only the games that are missing; the output is written when all are there, in the
 * order of their numbers. The same spec gives the same bytes, whoever played the games and however often it was stopped.
 */
export async function runSelfPlay(
  input: SelfPlayInput,
  to: string,
  options: SelfPlayRunOptions = {},
): Promise<SelfPlayResult> {
  const { play = playHere, signal = new AbortController().signal, keepGames = false, onProgress } = options;
  const spec = parseSelfPlay(input);
  const kind = outputKind(to, selfPlayKind(spec));
  const journal = await GameJournal.open(to, spec);
  const { counts } = journal;
  const before = counts.games;
  const start = performance.now();
  try {
    const keep = async (game: SelfPlayGame) => {
      await journal.append(game);
      onProgress?.(counts, before);
    };
    if (before < spec.games) await play(spec, journal.missing(), keep, signal);
    signal.throwIfAborted();
    await writeGames(to, kind, journal.read());
  } finally {
    await journal.close();
  }
  if (!keepGames) await journal.remove();
  return { ...counts, seconds: (performance.now() - start) / 1000 };
}

const playHere: PlayGames = async (spec, games, onGame, signal) => {
  const player = await openSelfPlayer(spec);
  try {
    const { concurrency: slots } = player;
    await workInSlots(games, { slots, signal }, async (game, stop) => onGame(await player.play(game, stop)));
  } finally {
    await player.close();
  }
};
