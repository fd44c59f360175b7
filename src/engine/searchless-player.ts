import { Random, UserError } from "#base";
import { formatFen, formatUci, type Move, type Position, scoreOfValue, wdlOfScore, wdlOfShares } from "#chess";
import {
  type Evaluation,
  type Evaluator,
  type Limits,
  type OptionTable,
  type OptionValues,
  parseOption,
  parseOptionValues,
} from "#search";
import { openEvaluator } from "./evaluators/open.js";
import { EVALUATOR_OPTIONS, networkOption } from "./network-options.js";
import type { Choice, Line, MoveValue, Player } from "./player.js";
import { byMove } from "./report.js";

const optionsFor = (network: string) =>
  ({
    temperature: {
      type: "number",
      default: 0,
      min: 0,
      max: 100,
      uci: "Temperature",
      help: "0 plays the best move; else moves are drawn, by exp(win probability / temperature) or share ^ (1 / temperature)",
    },
    ...EVALUATOR_OPTIONS,
    ...networkOption(network),
  }) as const satisfies OptionTable;

interface Ranked {
  move: Move;
  share: number; // of the policy
  value: number | undefined; // -1 to 1, where the network values each move
}

/** Plays what its network likes best at first sight: the most valuable move, or the one with the largest share. */
export class SearchlessPlayer implements Player {
  private readonly table: ReturnType<typeof optionsFor>;
  private readonly settings: OptionValues<ReturnType<typeof optionsFor>>;
  private opened: Evaluator | undefined;
  private isStale = true; // the evaluator was opened with other settings
  private random = new Random(1);

  private constructor(
    readonly name: string,
    network: string,
    private readonly steady: boolean,
    options: Iterable<readonly [string, string]>,
  ) {
    this.table = optionsFor(network);
    this.settings = parseOptionValues(`player "${name}"`, this.table, options);
  }

  static async open(spec: {
    name: string;
    network: string;
    options: Iterable<readonly [string, string]>;
    steady?: boolean;
  }): Promise<SearchlessPlayer> {
    const player = new SearchlessPlayer(spec.name, spec.network, spec.steady ?? false, spec.options);
    await player.refresh();
    return player;
  }

  /** Four batches: two are computed and one waits while the answers of another lead to new questions. */
  get concurrency(): number {
    return 4 * (this.opened?.batchSize ?? 1);
  }

  get options(): OptionTable {
    return this.table;
  }

  async setOption(wanted: string, text: string): Promise<void> {
    const { name, value } = parseOption(`player "${this.name}"`, this.table, wanted, text);
    Object.assign(this.settings, { [name]: value });
    if (name !== "temperature") this.isStale = true;
  }

  async ready(): Promise<string> {
    await this.refresh();
    return this.settings.network;
  }

  async evaluate(position: Position): Promise<number> {
    const evaluator = await this.refresh();
    const [{ value }] = await evaluator.evaluate([position]);
    return scoreOfValue(value, evaluator.scoreScale);
  }

  /** The evaluator as it is set now. */
  private async refresh(): Promise<Evaluator> {
    if (this.isStale || !this.opened) {
      this.isStale = false; // if it cannot be opened, the old one stays until something is set again
      const { network, threads } = this.settings;
      const opened = await openEvaluator(network, { threads, steady: this.steady });
      await this.opened?.close();
      this.opened = opened;
    }
    return this.opened;
  }

  async newGame({ seed = 1 }: { seed?: number } = {}): Promise<void> {
    this.random = new Random(seed);
    await this.refresh();
  }

  async choose(position: Position, { multiPv = 1, moves: allowed }: Limits = {}): Promise<Choice> {
    const start = performance.now();
    if (position.moves().length === 0)
      throw new UserError("POSITION_OVER", `${formatFen(position)}: there is no move to choose.`);
    const evaluator = await this.refresh();
    const [evaluation] = await evaluator.evaluate([position]);
    const all = rank(position, evaluation);
    const ranked = allowed ? all.filter(({ move }) => allowed.includes(move)) : [...all];
    if (this.settings.temperature > 0) ranked.unshift(...ranked.splice(this.draw(ranked), 1));
    const lines = ranked.slice(0, multiPv).map(({ move, value }, i): Line => {
      const known = value ?? (i === 0 ? evaluation.value : undefined); // most networks value the position alone
      const pv = [formatUci(position, move)];
      if (known === undefined) return { pv };
      const { wdl } = evaluation;
      const scoreCp = scoreOfValue(known, evaluator.scoreScale);
      return { scoreCp, wdl: wdl ? wdlOfShares(wdl) : wdlOfScore(scoreCp, position.material()), pv };
    });
    const values = all.flatMap(({ move, value }) => (value === undefined ? [] : [[move, value] as const]));
    return {
      move: ranked[0].move,
      lines,
      policy: byMove(
        position,
        all.map(({ move, share }) => [move, share] as const),
      ),
      ...(values.length > 0 && { values: byMove(position, values) }),
      nodes: 1,
      timeMs: performance.now() - start,
    };
  }

  /** By what the network says of the moves, or else of the positions after them. */
  async valueMoves(position: Position, moves: readonly Move[]): Promise<MoveValue[]> {
    const evaluator = await this.refresh();
    const valued = (move: Move, value: number, confidence: number | null): MoveValue => ({
      move,
      winProbability: (1 + value) / 2,
      scoreCp: scoreOfValue(value, evaluator.scoreScale),
      confidence,
    });
    const [evaluation] = await evaluator.evaluate([position]);
    if (evaluation.moveValues) {
      const ranked = new Map(rank(position, evaluation).map(({ move, value = 0 }) => [move, value]));
      return moves.map((move) =>
        valued(move, ranked.get(move) ?? 0, evaluation.confidences?.[evaluation.moves.indexOf(move)] ?? null),
      );
    }
    const after = moves.map((move) => position.clone().play(move));
    const asked = after.filter((next) => !next.outcome());
    const opinions = await evaluator.evaluate(asked);
    return moves.map((move, i) => {
      const outcome = after[i].outcome();
      if (outcome) return valued(move, outcome.winner === undefined ? 0 : 1, 1);
      const { value, wdl } = opinions[asked.indexOf(after[i])];
      return valued(move, -value, wdl ? Math.max(...wdl) : null);
    });
  }

  /** The index of a move drawn among ranked ones. */
  private draw(ranked: readonly Ranked[]): number {
    const { temperature } = this.settings;
    const [best] = ranked;
    const weights = ranked.map(({ share, value }) =>
      value === undefined || best.value === undefined
        ? (share / best.share) ** (1 / temperature)
        : Math.exp((value - best.value) / 2 / temperature),
    );
    let left = this.random.next() * weights.reduce((sum, weight) => sum + weight, 0);
    return Math.max(
      0,
      weights.findIndex((weight) => (left -= weight) < 0),
    );
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }
}

/** All moves, the best first. One after which the opponent can claim a draw is worth no more than that. */
function rank(position: Position, { moves, policy, moveValues }: Evaluation): Ranked[] {
  const ranked = moves.map((move, i) => {
    const value = moveValues && (allowsThreefold(position, move) ? 0 : moveValues[i]);
    return { move, share: policy[i], value };
  });
  return ranked.sort((a, b) => (b.value ?? b.share) - (a.value ?? a.share));
}

/** Whether the opponent could claim a draw by repetition after the move: it is there, or a reply away. */
function allowsThreefold(position: Position, move: Move): boolean {
  if (position.halfmoves < 6) return false; // twice before within the moves that can be taken back: 8 plies with the reply
  const after = position.clone().play(move);
  if (after.repetitions() >= 2) return true;
  return after.moves().some((reply) => {
    after.play(reply);
    const isThird = after.repetitions() >= 2;
    after.undo();
    return isThird;
  });
}
