import { UserError } from "#base";
import { formatUci, type Move, type Position, parseFen, parseUci } from "#chess";
import { type Puzzle as RatedPuzzle, readPuzzles } from "#formats";
import { Store } from "./store.js";
import { GameTree, type MoveNode } from "./tree.js";

/** A puzzle of Lichess: the first move is the opponent's, then solver and opponent take turns. */
export interface Puzzle extends Omit<RatedPuzzle, "line"> {
  rating: number; // 1500 if the file does not say
}

/** Puzzles taken from one file. Lichess publishes millions in random order; more than these nobody solves in a browser. */
export const MOST_PUZZLES = 20_000;

/** The first puzzles of Lichess' CSV; a text that is none is refused in words. */
export async function takePuzzles(lines: AsyncIterable<string>, name: string): Promise<Puzzle[]> {
  const taken: Puzzle[] = [];
  for await (const { line: _, rating = 1500, ...puzzle } of readPuzzles(lines, name)) {
    taken.push({ ...puzzle, rating });
    if (taken.length === MOST_PUZZLES) break;
  }
  if (taken.length === 0) throw new UserError("PUZZLES_EMPTY", `${name}: there is no puzzle in this file.`);
  return taken;
}

export type PuzzleState = "solving" | "solved" | "failed";

/** One puzzle on the board. */
export class PuzzleTry {
  readonly tree: GameTree;
  state: PuzzleState = "solving";
  clean = true; // without hint, solution or mistake
  isOver = false; // every move was found or shown; then they can be walked through

  constructor(readonly puzzle: Puzzle) {
    this.tree = new GameTree(parseFen(puzzle.fen));
    this.reply();
  }

  get solver(): "white" | "black" {
    return this.tree.start.turn === "white" ? "black" : "white";
  }

  /** The move that solves, in UCI; undefined when all are made. */
  get expected(): string | undefined {
    return this.puzzle.moves[this.tree.current.ply];
  }

  /** Tries a move; any mate will do. False if it is wrong, and then it is not on the board. */
  try(move: Move): boolean {
    const position = this.tree.position;
    const right = formatUci(position, move) === this.expected || isMate(position, move);
    if (!right) {
      this.clean = false;
      this.state = "failed";
      return false;
    }
    const isLast = this.tree.current.ply + 1 >= this.puzzle.moves.length || isMate(position, move);
    this.tree.play(move);
    if (isLast) {
      this.state = "solved";
      this.isOver = true;
    } else this.reply();
    return true;
  }

  /** Plays the rest of the solution. */
  show(): void {
    this.clean = false;
    while (this.expected !== undefined) this.reply();
    this.state = "failed";
    this.isOver = true;
  }

  private reply(): void {
    const move = this.expected === undefined ? undefined : parseUci(this.tree.position, this.expected);
    if (move === undefined)
      throw new UserError("PUZZLE_MOVE", `Puzzle ${this.puzzle.id}: ${this.expected} is not legal there.`);
    this.tree.play(move);
  }
}

const isMate = (position: Position, move: Move): boolean =>
  position.clone().play(move).outcome()?.reason === "checkmate";

export interface PuzzleFilter {
  from: number; // rating
  to: number;
  theme: string; // "" for any
  failed: boolean; // only those that were failed
}

interface Progress {
  rating: number; // of the solver, by Elo's formula against the puzzles
  solved: string[];
  failed: string[];
}

const KEY = "tabiya-puzzles";
const FACTOR = 24;

/** The puzzles at hand, the one on the board, and how the solver does. */
export class Puzzles extends Store {
  all: readonly Puzzle[] = [];
  source = "";
  filter: PuzzleFilter = { from: 0, to: 4000, theme: "", failed: false };
  current: PuzzleTry | undefined;
  progress: Progress = { rating: 1500, solved: [], failed: [] };
  hinted = false;
  private counted = false;

  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem"> | undefined) {
    super();
    try {
      this.progress = { ...this.progress, ...JSON.parse(storage?.getItem(KEY) ?? "{}") };
    } catch {
      // Damaged: begin anew.
    }
  }

  load(all: readonly Puzzle[], source: string): void {
    this.all = all;
    this.source = source;
    this.next();
  }

  get matching(): readonly Puzzle[] {
    const { from, to, theme, failed } = this.filter;
    const known = new Set(failed ? this.progress.failed : []);
    return this.all.filter(
      ({ id, rating, themes }) =>
        rating >= from && rating <= to && (theme === "" || themes.includes(theme)) && (!failed || known.has(id)),
    );
  }

  /** Themes of all puzzles, the most frequent first. */
  get themes(): string[] {
    const counts = new Map<string, number>();
    for (const { themes } of this.all) for (const theme of themes) counts.set(theme, (counts.get(theme) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]).map(([theme]) => theme);
  }

  choose(filter: Partial<PuzzleFilter>): void {
    this.filter = { ...this.filter, ...filter };
    this.next();
  }

  /** Another puzzle near the solver's rating that was not solved yet, if there is one. */
  next(random: () => number = Math.random): void {
    const matching = this.matching;
    const solved = new Set(this.progress.solved);
    const fresh = matching.filter(({ id }) => !solved.has(id) && id !== this.current?.puzzle.id);
    const pool = (fresh.length > 0 ? fresh : matching)
      .map((puzzle) => ({ puzzle, distance: Math.abs(puzzle.rating - this.progress.rating) }))
      .sort((a, b) => a.distance - b.distance)
      .slice(0, 12);
    this.set(pool.length === 0 ? undefined : pool[Math.floor(random() * pool.length)].puzzle);
  }

  retry(): void {
    this.set(this.current?.puzzle);
  }

  private set(puzzle: Puzzle | undefined): void {
    this.current = puzzle && new PuzzleTry(puzzle);
    this.hinted = false;
    this.counted = false;
    this.changed();
  }

  try(move: Move): boolean {
    const right = this.current?.try(move) ?? false;
    this.hinted = false;
    if (this.current?.state === "solved") this.count(this.current.clean);
    else if (!right) this.count(false);
    this.changed();
    return right;
  }

  hint(): void {
    if (this.current) this.current.clean = false;
    this.hinted = true;
    this.changed();
  }

  solution(): void {
    this.current?.show();
    this.count(false);
    this.changed();
  }

  /** Shows the position after a move of a puzzle that is over; before the first and after the last there is nothing. */
  go(node: MoveNode | undefined): void {
    if (!this.current?.isOver || !node || node.ply === 0) return;
    this.current.tree.go(node);
    this.changed();
  }

  /** Counts the first result of a puzzle: a hint or a mistake makes it a failure. */
  private count(won: boolean): void {
    if (!this.current || this.counted) return;
    this.counted = true;
    const { id, rating } = this.current.puzzle;
    const { progress } = this;
    const expected = 1 / (1 + 10 ** ((rating - progress.rating) / 400));
    const without = (ids: string[]) => ids.filter((each) => each !== id);
    this.progress = {
      rating: Math.round(progress.rating + FACTOR * ((won ? 1 : 0) - expected)),
      solved: won ? [...without(progress.solved), id] : without(progress.solved),
      failed: won ? without(progress.failed) : [...without(progress.failed), id],
    };
    try {
      this.storage?.setItem(KEY, JSON.stringify(this.progress));
    } catch {
      // Without room the progress lasts as long as the page.
    }
  }
}
