// How far a player's moves and values agree with games or labels it has not seen.
import { kendallTau, UserError } from "#base";
import { expectedPoints, type Move, type Position, parseFen, parseScore, parseUci, valueOfScore } from "#chess";
import type { Choice, Line, Player } from "#engine";
import type { Limits } from "#search";
import { shareInterval } from "./examine.js";

/** A position with what is known about it. */
export interface Labelled {
  position: Position;
  played?: Move; // what the game went on with
  scoreCp?: number; // what it is worth, for the side to move
  result?: number; // how the game ended for the side to move: 0, 0.5 or 1
  moves?: ReadonlyMap<Move, number>; // what each legal move is worth, in centipawns for the side to move
}

/** The share of the point a player expects: from its win, draw and loss if it gives them, else from its score. */
export function expectedScore({ wdl, scoreCp }: Pick<Line, "wdl" | "scoreCp">): number | undefined {
  if (wdl) return expectedPoints(wdl);
  return scoreCp === undefined ? undefined : (valueOfScore(scoreCp) + 1) / 2;
}

/** Reads a line `{"fen", "moves": {uci: centipawns or "#n"}}`, every legal move valued for the side to move. */
export function parseMoveLabels(line: string, where: string): Required<Pick<Labelled, "position" | "moves">> {
  const wrong = (what: string) =>
    new UserError("LABEL_LINE", `${where}: ${what}; expected {"fen":..., "moves":{uci: cp}}.`);
  let record: { fen?: unknown; moves?: unknown };
  try {
    record = JSON.parse(line);
  } catch {
    throw wrong(`"${line.slice(0, 40)}" is not JSON`);
  }
  if (typeof record?.fen !== "string" || typeof record.moves !== "object" || record.moves === null) {
    throw wrong("fen or moves is missing");
  }
  const position = parseFen(record.fen);
  const moves = new Map<Move, number>();
  for (const [text, value] of Object.entries(record.moves)) {
    const move = parseUci(position, text);
    const score = parseScore(value);
    if (move === undefined || score === undefined) throw wrong(`"${text}": ${JSON.stringify(value)} is no valued move`);
    moves.set(move, score);
  }
  return { position, moves };
}

/** Lets the player look at a labelled position, with as many lines as the labels can judge. */
export function askAbout(player: Player, { position, moves }: Labelled, limits: Limits, top: number): Promise<Choice> {
  return player.choose(position, { ...limits, multiPv: moves ? position.moves().length : top });
}

const BINS = 10; // of the calibration

/** Mean of what is added. */
class Mean {
  count = 0;
  private sum = 0;

  add(value: number): void {
    this.count++;
    this.sum += value;
  }

  get value(): number | null {
    return this.count === 0 ? null : this.sum / this.count;
  }
}

/** Positions for which a player expected much the same score, and what became of them. */
export interface CalibrationBin {
  from: number; // expected scores from .. to
  to: number;
  count: number;
  expected: number; // what the player expected on average
  actual: number; // what came of it
}

/** Gathers what `tabiya agreement` reports. */
export class Agreement {
  positions = 0;
  private moves = 0;
  private readonly ranks: number[] = []; // how often the right move was the player's first, second, ...
  private readonly valueError = new Mean();
  private readonly squaredError = new Mean();
  private readonly tau = new Mean();
  private readonly regret = new Mean();
  private readonly bins = Array.from({ length: BINS }, () => ({ expected: new Mean(), actual: new Mean() }));

  constructor(private readonly top: number) {}

  add(label: Labelled, choice: Choice): void {
    const { position } = label;
    this.positions++;
    const order = choice.lines.map(({ pv }) => (pv.length > 0 ? parseUci(position, pv[0]) : undefined));
    if (order[0] !== choice.move) order.unshift(choice.move);

    if (label.played !== undefined) this.addRank(order.indexOf(label.played));
    if (label.moves) this.addMoves(label.moves, choice, order, position);
    const expected = expectedScore(choice.lines[0] ?? {});
    if (expected === undefined) return;
    if (label.scoreCp !== undefined) {
      const error = 2 * expected - 1 - valueOfScore(label.scoreCp);
      this.valueError.add(Math.abs(error));
      this.squaredError.add(error * error);
    }
    if (label.result !== undefined) {
      const bin = this.bins[Math.min(BINS - 1, Math.floor(expected * BINS))];
      bin.expected.add(expected);
      bin.actual.add(label.result);
    }
  }

  private addRank(rank: number): void {
    this.moves++;
    if (rank >= 0) this.ranks[rank] = (this.ranks[rank] ?? 0) + 1;
  }

  private addMoves(
    labels: ReadonlyMap<Move, number>,
    choice: Choice,
    order: readonly (Move | undefined)[],
    position: Position,
  ): void {
    const best = Math.max(...labels.values());
    const chosen = labels.get(choice.move);
    // Several moves may be equally good: the player is right with any of them.
    this.addRank(order.findIndex((move) => move !== undefined && labels.get(move) === best));
    if (chosen !== undefined) this.regret.add((valueOfScore(best) - valueOfScore(chosen)) / 2);
    const [given, truth]: [number[], number[]] = [[], []];
    // A policy ranks the moves without a score for each.
    const isScored = choice.lines.every(({ scoreCp }) => scoreCp !== undefined);
    for (const [rank, { pv, scoreCp }] of choice.lines.entries()) {
      const move = pv.length > 0 ? parseUci(position, pv[0]) : undefined;
      const label = move === undefined ? undefined : labels.get(move);
      if (label === undefined) continue;
      given.push(isScored ? scoreCp! : -rank);
      truth.push(label);
    }
    const tau = kendallTau(given, truth);
    if (tau !== undefined && given.length > 1) this.tau.add(tau);
  }

  /** The result as numbers; null where the labels or the player gave nothing to measure. */
  report() {
    const hits = this.ranks[0] ?? 0;
    const within = this.ranks.slice(0, this.top).reduce((sum, count) => sum + (count ?? 0), 0);
    const calibration: CalibrationBin[] = this.bins.flatMap(({ expected, actual }, i) =>
      expected.value === null || actual.value === null
        ? []
        : [
            {
              from: i / BINS,
              to: (i + 1) / BINS,
              count: expected.count,
              expected: expected.value,
              actual: actual.value,
            },
          ],
    );
    const valued = calibration.reduce((sum, { count }) => sum + count, 0);
    const gap = calibration.reduce((sum, bin) => sum + bin.count * Math.abs(bin.expected - bin.actual), 0);
    const meanSquare = this.squaredError.value;
    return {
      positions: this.positions,
      moveMatch: this.moves === 0 ? null : hits / this.moves,
      ...(this.moves === 0 ? { low: null, high: null } : shareInterval(hits, this.moves)),
      topMatch: this.moves === 0 ? null : within / this.moves,
      valueMae: this.valueError.value,
      valueRmse: meanSquare === null ? null : Math.sqrt(meanSquare),
      calibrationError: valued === 0 ? null : gap / valued,
      calibration,
      kendallTau: this.tau.value,
      regret: this.regret.value,
    };
  }
}
