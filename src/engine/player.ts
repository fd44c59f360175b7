import type { Move, Position } from "#chess";
import type { Asking, Limits, OptionTable } from "#search";
import type { BenchResult } from "./bench.js";

/** One of the lines a player considered. */
export interface Line {
  /** In centipawns for the side to move; a mate in n plies is 32000 - n, to be mated in n is n - 32000. */
  scoreCp?: number;
  mate?: number; // moves until mate, negative if the side to move is mated
  wdl?: readonly [number, number, number]; // win, draw, loss in thousandths, for the side to move
  depth?: number;
  selDepth?: number;
  visits?: number;
  pv: readonly string[]; // in UCI
}

/** A number for each move, by its name in UCI; the best first. */
export type ByMove = Readonly<Record<string, number>>;

/** A move in thought: what it is worth to whoever makes it, and whether the board after it was imagined rightly. */
export interface ThoughtMove {
  move: string; // in UCI
  value: number; // win minus loss, -1 to 1
  wdl: readonly [number, number, number]; // in thousandths
  agreed: boolean; // the network would have written the true board, token by token
}

/** What a player thinks of a position: plain data, which the terminal, UCI and the page show each in its way. */
export interface Report {
  lines: readonly Line[]; // best first, as many as `multiPv` asked for
  depth?: number;
  nodes?: number;
  timeMs: number; // from the question to the answer
  hashFull?: number; // thousandths
  policy?: ByMove; // the share of each legal move, if a network has such an opinion
  visits?: ByMove; // how often a search looked at each
  values?: ByMove; // -1 to 1 for the mover, where each move is valued
  thoughts?: readonly (readonly ThoughtMove[])[]; // variations in the order they were thought of
}

/**
 * A move with everything the player thought. `lines[0]` begins with it; only a foreign engine may have changed its mind after
 * its last report, or have given none.
 */
export interface Choice extends Report {
  move: Move;
}

/** What a player thinks of one move, without looking further. */
export interface MoveValue {
  move: Move;
  winProbability: number; // of the mover, draws counting half
  scoreCp: number; // the same in centipawns
  confidence: number | null; // the share of its likeliest answer, if it weighs several
}

/** Ways in which a player can spoil a game. */
export const FAULTS = ["crash", "hang", "time", "illegal move", "out of turn"] as const;
/** What a player can be blamed for. */
export type FaultKind = (typeof FAULTS)[number];

/** The player is to blame: what a game is lost for. */
export class PlayerFault extends Error {
  override readonly name = "PlayerFault";

  constructor(
    readonly kind: FaultKind,
    message: string,
  ) {
    super(message);
  }
}

/** Anything that chooses moves: a network with or without a search, a foreign engine, random moves. */
export interface Player {
  /** As the user wrote it. */
  readonly name: string;
  /** As many players of this name, asked at once, answer fastest: their network's batches are full. 1 by default. */
  readonly concurrency?: number;
  /** Forgets the last game. The same `seed` gives the same game where the player draws random numbers. */
  newGame(options?: { seed?: number }): Promise<void>;
  /**
   * Chooses a move; there must be one. The position knows the moves that led to it, and is left as it was. Rejects with
   * a PlayerFault if the player cannot; then it is of no further use and must be closed.
   */
  choose(position: Position, limits: Limits, asking?: Asking<Report>): Promise<Choice>;
  /** Does what was set by options, and says in one line what values the positions. */
  ready?(): Promise<string>;
  /** What a position out of check is worth at first sight, in centipawns for the side to move. */
  evaluate?(position: Position): Promise<number | undefined>;
  /** Searches fixed positions to a depth, to compare versions of a search. */
  bench?(depth: number, isOver: () => boolean): Promise<BenchResult | undefined>;
  /** What the moves are worth, if the player can tell without searching. */
  valueMoves?(position: Position, moves: readonly Move[]): Promise<MoveValue[]>;
  /** What can be set, declared by the search or family that has it. */
  readonly options: OptionTable;
  /** Sets an option by its name in the table, between two questions. */
  setOption(name: string, value: string): Promise<void>;
  /** Called when the player spoils the game while it is not its turn: it crashed, or moved out of turn. */
  onFault?: (fault: PlayerFault) => void;
  close(): Promise<void>;
}
