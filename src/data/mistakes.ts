// Where a network is most wrong: positions of a data file beside what the network says of them.
import { expectedScore } from "#arena";
import { mateScore, parseFen, parseUci } from "#chess";
import type { Player } from "#engine";
import { type DataRecord, openRecords } from "#formats";

/** A position with what the data and the network say of it; expected scores are 0 to 1, for the side to move. */
export interface JudgedPosition {
  fen: string;
  move: string | null; // the data's, in UCI
  target: number | null; // expected score by the data
  chosen: string; // the network's move
  expected: number | null; // expected score by the network
  moveShare: number | null; // that its policy gives to the data's move
  loss: number; // surprise at the move, in nats, plus four times the square of the value's error (as on a scale of -1 to 1)
}

/** Where a network's worst mistakes are looked for. */
export interface MistakeOptions {
  sample: number; // positions looked at, spread evenly over the start of the file
  resultShare?: number; // how much of the target is the game's result instead of the score
  scoreScale?: number; // centipawns k in the value tanh(score / k)
  signal?: AbortSignal;
}

const SPREAD = 50; // records read for each that is looked at

/** Judges a sample of a file's positions, the worst first. */
export async function findMistakes(player: Player, path: string, options: MistakeOptions): Promise<JudgedPosition[]> {
  const judged: JudgedPosition[] = [];
  for (const record of await sampleRecords(path, options.sample)) {
    options.signal?.throwIfAborted();
    const position = await judge(player, record, options);
    if (position) judged.push(position);
  }
  return judged.sort((a, b) => b.loss - a.loss);
}

async function sampleRecords(path: string, count: number): Promise<DataRecord[]> {
  const records: DataRecord[] = [];
  for await (const batch of await openRecords(path, { onBad: () => {} })) {
    for (const record of batch) records.push(record);
    if (records.length >= count * SPREAD) break;
  }
  const step = Math.max(1, Math.floor(records.length / count));
  return records.filter((_, i) => i % step === 0).slice(0, count);
}

async function judge(
  player: Player,
  record: DataRecord,
  { resultShare = 0, scoreScale = 400 }: MistakeOptions,
): Promise<JudgedPosition | undefined> {
  const position = parseFen(record.fen);
  if (position.outcome()) return undefined;
  const scores = Object.entries(record.moves ?? {}).map(([uci, value]) => ({ uci, score: centipawns(value) }));
  const best = scores.reduce<(typeof scores)[number] | undefined>(
    (a, b) => (a && a.score >= b.score ? a : b),
    undefined,
  );
  const move = record.move ?? best?.uci ?? null;
  const score = record.score ?? best?.score;
  const byScore = score === undefined ? record.win_prob : (Math.tanh(score / scoreScale) + 1) / 2;
  const byResult = record.result === undefined ? undefined : (record.result + 1) / 2;
  const target = mix(byScore, byResult, resultShare);

  const { lines, policy, values, move: choice } = await player.choose(position, { depth: 1 });
  const chosen = lines[0]?.pv[0] ?? "";
  const played = move === null ? undefined : parseUci(position, move);
  const expected = expectedScore(lines[0] ?? {}) ?? null;
  const moveShare = move === null || !policy ? null : (policy[move] ?? 0);
  // Without a policy, what it thinks it would lose by the data's move is its surprise.
  const regret = move !== null && values && chosen in values ? Math.max(0, values[chosen] - (values[move] ?? -1)) : 0;
  const surprise = moveShare === null ? (played === choice ? 0 : regret) : -Math.log(Math.max(moveShare, 1e-6));
  const error = expected === null || target === null ? 0 : 2 * (expected - target);
  return { fen: record.fen, move, target, chosen, expected, moveShare, loss: surprise + error * error };
}

/** Centipawns of a valued move, which may be "#3" for a mate. */
function centipawns(value: number | string): number {
  return typeof value === "number" ? value : mateScore(Number(value.replace("#", "")));
}

function mix(byScore: number | undefined, byResult: number | undefined, share: number): number | null {
  if (byScore === undefined) return byResult ?? null;
  return byResult === undefined ? byScore : byScore + share * (byResult - byScore);
}
