import { Journal, openBytes, openRandom, readLineAt, UserError } from "#base";
import { formatFen, formatUci, type Position } from "#chess";
import { openEvaluator } from "#engine";
import { createRecords, type DataRecord, type Game, readGames, refuseOther } from "#formats";
import type { Evaluation, Evaluator } from "#search";
import { otherWork } from "./ask.js";
import { hashGame } from "./select.js";
import { POLICY_TABLE, sparsePolicy } from "./selfplay/game.js";

/** What of games is judged, and how the network's policy is mixed with the moves. */
export interface DistilGamesOptions {
  played: number; // share of the policy that is the move of the game; the rest is the network's
  validation: number; // share of the games that an import sets aside for validation: they are left out here
  seed: number; // of that import
  limit?: number; // positions, up to the end of a game
  signal: AbortSignal;
  onProgress(positions: number, games: number): void;
}

/** What became of the games. */
export interface DistilGamesResult {
  games: number;
  positions: number;
  known: number; // games of an earlier run that was broken off
  bad: number; // games that could not be read
}

const UNDER_WAY = 8; // games that wait for answers: enough to fill batches
const LEAST = 0.002; // shares below it are left out

/**
 * What a network with a policy makes of every position of games, for another to learn: its policy, mixed with the move that was
 * played, and its value beside the result. Games are kept in OUT.taught while it works, so that after a kill the same
 * call goes on.
 */
export async function distilGames(
  from: string,
  to: string,
  network: string,
  { played, validation, seed, limit = Number.POSITIVE_INFINITY, signal, onProgress }: DistilGamesOptions,
): Promise<DistilGamesResult> {
  await refuseOther(from, ["pgn"], "games in PGN");
  const result: DistilGamesResult = { games: 0, positions: 0, known: 0, bad: 0 };
  const { journal, bytes, positions } = await openJournal(
    `${to}.taught`,
    JSON.stringify({ from, network, played, validation, seed }),
  );
  result.positions = positions;
  result.known = bytes.length;
  let evaluator: Evaluator | undefined;
  const asked: Promise<DataRecord[]>[] = [];
  const keepOldest = async () => {
    const records = (await asked.shift()) ?? [];
    bytes.push(await journal.append(JSON.stringify(records)));
    result.positions += records.length;
    onProgress(result.positions, bytes.length);
  };
  try {
    evaluator = await openEvaluator(network);
    let number = 0;
    for await (const game of readGames(await openBytes(from), { source: from, onBad: () => void result.bad++ })) {
      signal.throwIfAborted();
      if (result.positions >= limit) break;
      if (hashGame(Uint16Array.from(game.moves), seed) < validation * 2 ** 32) continue;
      if (number++ < result.known) continue;
      const answer = askAbout(game, number - 1, evaluator, played);
      answer.catch(() => undefined); // heard when it is awaited
      asked.push(answer);
      if (asked.length >= UNDER_WAY) await keepOldest();
    }
    while (asked.length > 0) await keepOldest();
    if (result.positions === 0)
      throw new UserError("RECORDS_NONE", `${from}: there is no position in these games, so nothing was written.`);
    result.games = bytes.length;
    await writeTaught(journal.path, bytes, to);
  } finally {
    await Promise.allSettled(asked);
    await evaluator?.close();
    await journal.close();
  }
  await journal.remove();
  return result;
}

/** Opens what an earlier call has left: where each of its games begins, and how many positions they have. */
async function openJournal(path: string, header: string) {
  const bytes: number[] = [];
  let positions = 0;
  const journal = await Journal.open({
    path,
    header,
    onLine(line, byte) {
      bytes.push(byte);
      positions += (JSON.parse(line) as DataRecord[]).length;
    },
    refuse: (found) => otherWork("DISTIL_OTHER", `${path} is of another call`, found, header),
  });
  return { journal, bytes, positions };
}

async function writeTaught(journal: string, bytes: readonly number[], to: string): Promise<void> {
  const writer = await createRecords(to, { moves: POLICY_TABLE });
  const file = await openRandom(journal);
  try {
    for (const byte of bytes) await writer.write(JSON.parse(readLineAt(file, byte)) as DataRecord[]);
    await writer.commit();
  } catch (error) {
    await writer.abort();
    throw error;
  } finally {
    file.close();
  }
}

async function askAbout(game: Game, number: number, evaluator: Evaluator, played: number): Promise<DataRecord[]> {
  const positions: Position[] = [];
  const position = game.start;
  for (const move of game.moves) {
    positions.push(position.clone());
    position.play(move);
  }
  const white = { "1-0": 1, "0-1": -1, "1/2-1/2": 0, "*": undefined }[game.result];
  const evaluations = await evaluator.evaluate(positions);
  return positions.map((each, ply) => {
    const { value, policy } = mixIn(evaluations[ply], game.moves[ply], played);
    const sign = each.turn === "white" ? 1 : -1;
    return {
      fen: formatFen(each),
      move: formatUci(each, game.moves[ply]),
      policy: sparsePolicy(each, evaluations[ply].moves, policy),
      value: white === undefined ? value : sign * white + 0,
      root_value: value,
      game: number,
      ply,
    };
  });
}

function mixIn({ moves, policy, value }: Evaluation, move: number, played: number) {
  const mixed = policy.map((share, i) => {
    const all = (1 - played) * share + (moves[i] === move ? played : 0);
    return all < LEAST ? 0 : all;
  });
  return { policy: mixed, value: Number(value.toFixed(4)) };
}
