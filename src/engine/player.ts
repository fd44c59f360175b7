import type { Move, Position } from "#chess";

/** How long a player may think about one move. Several limits together end the search at the first one reached. */
export interface Limits {
  nodes?: number;
  depth?: number; // plies
  moveTimeMs?: number;
  clock?: Clock;
  deadlineMs?: number; // when an answer comes too late to count, whatever the other limits say
  multiPv?: number; // how many best moves to report; 1 if not said
}

/** What the clocks of both sides show. */
export interface Clock {
  whiteMs: number;
  blackMs: number;
  whiteIncrementMs: number;
  blackIncrementMs: number;
  movesToGo?: number; // until the next time control, if there is one
}

/** One of the moves a player considered, best first. */
export interface Variation {
  /** In centipawns for the side to move; a mate in n plies is 32000 - n, to be mated in n is n - 32000. */
  scoreCp?: number;
  mate?: number; // moves until mate, negative if the side to move is mated
  wdl?: readonly [number, number, number]; // win, draw, loss in thousandths, for the side to move
  depth?: number;
  pv: readonly string[]; // in UCI
}

export interface Choice extends Variation {
  move: Move;
  policy?: Readonly<Record<string, number>>; // the share of each legal move, if a network has such an opinion
  nodes?: number;
  timeMs: number; // from the question to the answer
  variations: readonly Variation[]; // as many as `multiPv` asked for; the first is repeated in this object
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

/** Anything that chooses moves: a network with or without a search, a foreign engine, chance. */
export interface Player {
  /** As the user wrote it. */
  readonly name: string;
  /** Forgets the last game. `seed` decides chance, if the player uses any: the same seed, the same game. */
  newGame(options?: { seed?: number }): Promise<void>;
  /**
   * Chooses a move; there must be one. The position knows the moves that led to it, and is left as it was. Rejects with
   * a PlayerFault if the player cannot; then it is of no further use and must be closed.
   */
  choose(position: Position, limits: Limits): Promise<Choice>;
  /** What the moves are worth, if the player can tell without searching. */
  valueMoves?(position: Position, moves: readonly Move[]): Promise<MoveValue[]>;
  /** Called when the player spoils the game while it is not its turn: it crashed, or moved out of turn. */
  onFault?: (fault: PlayerFault) => void;
  close(): Promise<void>;
}

/** Score of a mate in `moves` (negative: of being mated) as centipawns. */
export const mateScore = (moves: number): number => (moves > 0 ? 32001 - 2 * moves : -32000 - 2 * moves);
