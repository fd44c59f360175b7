import { Random } from "#base";
import { type Move, type Position, parseFen, START_FEN, scoreOfValue } from "#chess";
import type { Limits } from "../limits.js";
import type { Asking, Search, SearchLine, SearchReport, ThoughtMove } from "../search.js";
import { thinkingTime } from "../time.js";
import type { ThinkSettings } from "./options.js";
import { BOARD_TOKENS, MOVE_TOKENS, type Speech, type ThoughtWriter, type Worth } from "./writer.js";

const STEP_TOKENS = MOVE_TOKENS + BOARD_TOKENS; // a move in thought
const LAST_TOKENS = 1 + MOVE_TOKENS; // the end of thinking and the move to play
const FOREIGN_PLIES = 24; // from the start to a position of its own, for thoughts that are foreign to another
const RESERVE = 3; // times the slowest step yet, for one more and what ends a thought: nine runs where a step has four

/** Lets a network explore variations in its own words, then asks it what to play. */
export class Think implements Search {
  private random = new Random(1);

  constructor(
    private readonly writer: ThoughtWriter,
    private settings: ThinkSettings,
  ) {}

  configure(settings: ThinkSettings, seed: number): void {
    this.settings = settings;
    this.random = new Random(seed);
  }

  async search(position: Position, limits: Limits, asking: Asking<SearchReport> = {}): Promise<SearchReport> {
    const thought = new Thought(this.writer, this.settings, this.random, { position, limits, asking });
    return thought.run();
  }

  async clear(): Promise<void> {}

  close(): Promise<void> {
    return this.writer.close();
  }
}

/** A move of a thought with the boards before and after it. */
interface Step {
  before: Position;
  move: Move;
  after: Position;
}

/** One position thought about. */
class Thought {
  private readonly start = performance.now();
  private readonly root: Position;
  private readonly variations: ThoughtMove[][] = [];
  private readonly steps: Step[][] = []; // of the same variations
  private readonly budget: number; // tokens
  private readonly untilMs: number;
  private slowestMs = 0; // a step of thought
  private depth = 0;

  private readonly limits: Limits;
  private readonly asking: Asking<SearchReport>;

  constructor(
    private readonly writer: ThoughtWriter,
    private readonly settings: ThinkSettings,
    private readonly random: Random,
    { position, limits, asking }: { position: Position; limits: Limits; asking: Asking<SearchReport> },
  ) {
    this.limits = limits;
    this.asking = asking;
    this.root = position.clone();
    this.budget = Math.min(settings.tokens, limits.nodes ?? Infinity);
    const { softMs, hardMs } = thinkingTime(position.turn, limits);
    const untilMs = Math.min(softMs ?? Infinity, hardMs ?? Infinity);
    this.untilMs = isRead(settings) ? untilMs / 2 : untilMs; // what is written first takes as long to read again
  }

  async run(): Promise<SearchReport> {
    const { writer, settings } = this;
    const sight = await writer.begin(this.root);
    let speech = sight;
    this.slowestMs = 2 * (performance.now() - this.start); // a step has a board and three tokens
    if (this.hasRoomFor(1 + STEP_TOKENS + 1) && settings.variations > 0) {
      if (settings.content === "foreign") await this.reread(await this.thinkElsewhere());
      else await this.think();
      if (settings.content === "shuffled") await this.reread(shuffleSteps(this.steps, this.random));
      speech = await writer.sign("end", this.root);
      if (settings.weigh > 0) speech = this.weigh(sight);
    }
    const allowed = this.limits.moves;
    const ranked = speech.moves
      .map((move, i) => ({ move, share: speech.shares[i] }))
      .filter(({ move }) => !allowed || allowed.includes(move))
      .sort((a, b) => b.share - a.share);
    const drawn = this.draw(ranked.map(({ share }) => share));
    ranked.unshift(...ranked.splice(drawn, 1));
    return this.report(await this.lines(ranked.map(({ move }) => move)), speech);
  }

  /**
   * A first sight with the values that variations end in: each is weighed against their mean, which is also what a move is
   * taken to be worth that begins none.
   */
  private weigh({ moves, shares, goesOn }: Speech): Speech {
    const values = this.variations.map((variation) => (variation.length % 2 === 1 ? 1 : -1) * variation.at(-1)!.value);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    if (this.settings.content === "shuffled") this.random.shuffle(values);
    const weighed = shares.slice();
    for (const [i, [{ move }]] of this.variations.entries())
      weighed[moves.indexOf(move)] *= Math.exp(this.settings.weigh * (values[i] - mean));
    const sum = weighed.reduce((a, b) => a + b);
    return { moves, shares: weighed.map((share) => share / sum), goesOn };
  }

  /** Writes variations until there are enough. */
  private async think(): Promise<void> {
    let speech = await this.writer.sign("start", this.root);
    do speech = await this.explore(speech);
    while (this.goesOn(speech, STEP_TOKENS + 1) && this.variations.length < this.settings.variations);
  }

  /** What it thinks of a position that has nothing to do with this one: some random moves from the start. */
  private async thinkElsewhere(): Promise<Step[][]> {
    const root = parseFen(START_FEN);
    for (let ply = 0; ply < FOREIGN_PLIES && !root.outcome(); ply++) root.play(this.random.pick(root.moves()));
    await this.writer.begin(root);
    const { limits } = this;
    const elsewhere = new Thought(this.writer, this.settings, this.random, { position: root, limits, asking: {} });
    await elsewhere.think();
    return elsewhere.steps;
  }

  /** Begins again, and reads given variations instead of writing its own. */
  private async reread(variations: readonly (readonly Step[])[]): Promise<void> {
    const { writer, root } = this;
    await writer.begin(root);
    await writer.sign("start", root);
    for (const steps of variations) {
      for (const { before, move, after } of steps) {
        await writer.move(before, move);
        await writer.board(after);
      }
      await writer.sign("variation", root);
    }
  }

  /** Thinks a variation through; what may be said after it. */
  private async explore(first: Speech): Promise<Speech> {
    const { writer, settings } = this;
    const known = new Set(this.variations.map(([{ move }]) => move));
    const variation: ThoughtMove[] = [];
    const steps: Step[] = [];
    const position = this.root.clone();
    // Another beginning each time, as in what the network learnt from.
    let speech = without(first, known.size < first.moves.length ? known : new Set());
    do {
      const begun = performance.now();
      const isRandom = settings.content === "random";
      const move = speech.moves[isRandom ? this.drawAny(speech.shares) : this.draw(speech.shares)];
      const before = position.clone();
      const worth = await writer.move(position, move);
      position.play(move);
      const next = await writer.board(position);
      steps.push({ before, move, after: position.clone() });
      variation.push({ move, ...worth, wrongTokens: next.wrongTokens });
      if (variation.length === 1) this.variations.push(variation);
      this.depth = Math.max(this.depth, variation.length);
      this.slowestMs = Math.max(this.slowestMs, performance.now() - begun);
      this.asking.onReport?.(this.report([this.lineOf(variation)], first));
      speech = next;
      if (next.wrongTokens > 0 && settings.trust === "checked") break;
    } while (variation.length < settings.depth && !position.outcome() && this.goesOn(speech, STEP_TOKENS + 1));
    this.steps.push(steps);
    return writer.sign("variation", this.root);
  }

  private goesOn({ goesOn }: Speech, tokens: number): boolean {
    if (!this.hasRoomFor(tokens)) return false;
    const { always, temperature } = this.settings;
    return always || (temperature > 0 ? this.random.next() < goesOn : goesOn > 0.5);
  }

  /** Whether there are tokens and time for so much more, with what is needed to end and to move. */
  private hasRoomFor(tokens: number): boolean {
    if (this.asking.signal?.aborted) return false;
    const { writer } = this;
    if (Math.min(this.budget - writer.tokens, writer.room) < tokens + LAST_TOKENS) return false;
    const elapsed = performance.now() - this.start;
    return elapsed + RESERVE * this.slowestMs < this.untilMs;
  }

  /** The index of a share: of the largest, or drawn. */
  private draw(shares: ArrayLike<number>): number {
    const { temperature } = this.settings;
    const list = Array.from(shares);
    if (temperature === 0) return list.indexOf(Math.max(...list));
    const weights = list.map((share) => share ** (1 / temperature));
    let left = this.random.next() * weights.reduce((sum, weight) => sum + weight, 0);
    return Math.max(
      0,
      weights.findIndex((weight) => (left -= weight) < 0),
    );
  }

  /** The index of any share above 0. */
  private drawAny(shares: ArrayLike<number>): number {
    const indices = Array.from(shares, (_, i) => i).filter((i) => shares[i] > 0);
    return this.random.pick(indices);
  }

  /** The moves to show, the one to play first: each with its variation, or else with what it alone is worth. */
  private async lines(moves: readonly Move[]): Promise<SearchLine[]> {
    const lines: SearchLine[] = [];
    for (const move of moves.slice(0, this.limits.multiPv ?? 1)) {
      const variation = this.variations.find(([first]) => first.move === move);
      if (variation) {
        lines.push(this.lineOf(variation));
        continue;
      }
      const scoreCp = scoreOfValue(await this.writer.value(this.root, move));
      lines.push({ scoreCp, depth: 1, selDepth: 1, pv: [move] });
    }
    return lines;
  }

  private lineOf(variation: readonly ThoughtMove[]): SearchLine {
    const [first] = variation;
    return {
      scoreCp: scoreOfValue(first.value),
      wdl: sharesOf(first),
      depth: variation.length,
      selDepth: variation.length,
      pv: variation.map(({ move }) => move),
    };
  }

  private report(lines: readonly SearchLine[], { moves, shares }: Speech): SearchReport {
    return {
      lines,
      depth: Math.max(1, this.depth),
      nodes: this.writer.tokens,
      timeMs: performance.now() - this.start,
      hashFull: 0,
      moves: moves.map((move, i) => ({ move, share: shares[i] })),
      thoughts: this.variations.map((variation) => [...variation]),
    };
  }
}

/** Whether variations are read that were written before, out of their order. */
const isRead = ({ content }: ThinkSettings): boolean => content === "shuffled" || content === "foreign";

/** The same moves in a random order, in variations as long as they were. */
function shuffleSteps(variations: readonly (readonly Step[])[], random: Random): Step[][] {
  const steps = random.shuffle(variations.flat());
  return variations.map(({ length }) => steps.splice(0, length));
}

/** Win, draw and loss that a worth says. */
export function sharesOf({ value, draw }: Worth): [number, number, number] {
  const drawn = Math.max(0, Math.min(draw, 1 - Math.abs(value)));
  return [(1 - drawn + value) / 2, drawn, (1 - drawn - value) / 2];
}

/** A speech in which some moves are not said. */
function without(speech: Speech, moves: ReadonlySet<Move>): Speech {
  if (moves.size === 0) return speech;
  const shares = speech.shares.map((share, i) => (moves.has(speech.moves[i]) ? 0 : share));
  return { ...speech, shares };
}
