import { messageOf } from "#base";
import { type Color, formatFen, type Move, opposite, type Position, parseFen, parseUci, START_FEN } from "#chess";
import type { Report } from "#engine";
import type { Result } from "#formats";
import type { MindAsking } from "../minds/mind.js";
import type { Question, Thought, Wish } from "../minds/protocol.js";
import { ChessClock, type TimeControl } from "./clock.js";
import type { ReadGame } from "./pgn.js";
import { HUMAN, humanColor, type NetworkSeat, type Seat, type Seats, wishOf } from "./seats.js";
import { Store } from "./store.js";
import { endOf, GameTree, type MoveNode, pathTo } from "./tree.js";
import { type Verdict, verdictOf } from "./verdict.js";

/** Lets the network of a seat think. */
export type Think = (seat: NetworkSeat, question: Question, wish: Wish, asking: MindAsking) => Promise<Thought>;

export interface Ending {
  result: Result;
  reason: string; // "checkmate", "White resigned"
}

/** What happened last, for sounds and for the live region. */
export interface Event {
  kind: "move" | "capture" | "check" | "end" | "start" | "back";
  text: string;
  count: number; // of events so far, so that the same one twice is seen
}

export interface GameOptions {
  think: Think;
  now?: () => number;
  name?: (seat: Seat) => string; // for tags and messages
}

const colorName = (color: Color): string => (color === "white" ? "White" : "Black");

/** A game on the board: who plays, whose turn it is, how it went. The clock and the networks run while `isLive`. */
export class PlayedGame extends Store {
  tree = new GameTree(parseFen(START_FEN));
  tags = new Map<string, string>();
  seats: Seats = { white: HUMAN, black: HUMAN };
  clock: ChessClock | undefined;
  ending: Ending | undefined;
  orientation: Color = "white";
  paused = false;
  thinking: { color: Color; report: Report | undefined } | undefined;
  trouble: string | undefined; // why a network does not move
  event: Event = { kind: "start", text: "", count: 0 };
  /** Where the game stands; the board may show another place of the tree. */
  head: MoveNode = this.tree.root;

  private readonly think: Think;
  private readonly now: () => number;
  private readonly nameOf: (seat: Seat) => string;
  private asking: AbortController | undefined;
  seed = 1; // of networks that draw random numbers; another in every game

  constructor({ think, now = () => performance.now(), name = ({ kind }) => kind }: GameOptions) {
    super();
    this.think = think;
    this.now = now;
    this.nameOf = name;
  }

  get position(): Position {
    return this.tree.position;
  }

  /** The board shows where the game stands. */
  get isAtHead(): boolean {
    return this.tree.current === this.head;
  }

  /** Whether whoever sits before the screen may move the pieces of this colour now. */
  mayMove(color: Color): boolean {
    return this.seats[color].kind === "human" || !this.isAtHead || this.paused || this.ending !== undefined;
  }

  /** Begins anew from a position. */
  begin(start: Position, options: { seats?: Seats; control?: TimeControl } = {}): void {
    this.halt();
    this.tree = new GameTree(start);
    this.head = this.tree.root;
    this.tags = new Map();
    this.seats = options.seats ?? this.seats;
    this.clock = options.control && new ChessClock(options.control);
    this.ending = undefined;
    this.paused = false;
    this.trouble = undefined;
    this.seed = (this.seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    this.orientation = humanColor(this.seats) ?? "white";
    this.tell("start", "New game.");
    this.settle();
  }

  /** Puts a game from elsewhere on the board; nobody plays on by itself. */
  load({ tree, tags, result }: Omit<ReadGame, "skipped">): void {
    this.halt();
    this.tree = tree;
    this.tags = tags;
    this.head = endOf(tree.current);
    this.clock = undefined;
    this.seats = { white: HUMAN, black: HUMAN };
    this.orientation = "white";
    this.trouble = undefined;
    this.paused = false;
    this.ending = result === "*" ? undefined : { result, reason: tags.get("Termination") ?? "as recorded" };
    this.tell("start", `A game of ${this.head.ply} plies.`);
    this.settle();
  }

  /** Puts somebody into a seat, at any moment. */
  sit(color: Color, seat: Seat): void {
    this.halt();
    this.seats = { ...this.seats, [color]: seat };
    this.trouble = undefined;
    this.settle();
  }

  /** Plays a move at the place that is shown. Elsewhere than at the head it makes that place the head. */
  play(move: Move): void {
    const atHead = this.isAtHead;
    if (!atHead) this.halt();
    const before = this.tree.position;
    const node = this.tree.play(move);
    this.head = node;
    if (!atHead) this.ending = undefined;
    if (this.clock && atHead) {
      if (this.clock.turn === undefined) this.clock.start(before.turn, this.now());
      this.clock.press(this.now());
      node.clockMs = this.clock.remaining(before.turn, this.now());
    }
    this.announce(before, node);
    this.settle();
  }

  /** Takes the last move back, and the network's reply with it. */
  takeBack(): void {
    this.halt();
    const human = humanColor(this.seats);
    let to = this.head.parent;
    while (to?.parent && human !== undefined && this.turnAt(to) !== human) to = to.parent;
    if (!to) {
      this.settle();
      return;
    }
    const undone = pathTo(this.head)[to.ply];
    this.tree.go(to);
    this.tree.remove(undone);
    this.head = to;
    this.ending = undefined;
    this.restoreClock(to);
    this.tell("back", "Taken back.");
    this.settle();
  }

  private restoreClock(node: MoveNode): void {
    if (!this.clock) return;
    const full = this.clock.control.minutes * 60_000;
    this.clock.stop(this.now());
    this.clock.set(this.turnAt(node), node.parent?.clockMs ?? full);
    this.clock.set(opposite(this.turnAt(node)), node.clockMs ?? full);
    if (node.parent) this.clock.start(this.turnAt(node), this.now());
  }

  private turnAt(node: MoveNode): Color {
    return node.ply % 2 === 0 ? this.tree.start.turn : opposite(this.tree.start.turn);
  }

  resign(): void {
    const color = humanColor(this.seats) ?? this.turnAt(this.head);
    this.finish({ result: color === "white" ? "0-1" : "1-0", reason: `${colorName(color)} resigned` });
  }

  /** Shows another place; the game goes on where it stands. */
  go(node: MoveNode | undefined): void {
    if (!node || node === this.tree.current) return;
    this.tree.go(node);
    this.changed();
  }

  back(): void {
    this.go(this.tree.current.parent);
  }

  forward(): void {
    this.go(this.tree.current.children[0]);
  }

  toStart(): void {
    this.go(this.tree.root);
  }

  toEnd(): void {
    this.go(endOf(this.tree.current));
  }

  remove(node: MoveNode): void {
    this.halt();
    const holdsHead = pathTo(this.head).includes(node);
    this.tree.remove(node);
    if (holdsHead) {
      this.head = node.parent ?? this.tree.root;
      this.ending = undefined;
    }
    this.settle();
  }

  promote(node: MoveNode): void {
    this.tree.promote(node);
    this.changed();
  }

  /** Turns the board round, or so that a colour is below. */
  flip(below: Color = opposite(this.orientation)): void {
    this.orientation = below;
    this.changed();
  }

  /** Stops the networks and the clock, or lets them go on. */
  pause(paused: boolean): void {
    this.paused = paused;
    if (paused) {
      this.halt();
      this.clock?.stop(this.now());
    } else if (this.clock && this.head.parent && !this.ending) this.clock.start(this.turnAt(this.head), this.now());
    this.settle();
  }

  /** To be called now and then while a clock runs. */
  tick(): void {
    const flagged = this.clock?.flagged(this.now());
    if (flagged && !this.ending) {
      this.finish({ result: flagged === "white" ? "0-1" : "1-0", reason: `${colorName(flagged)} ran out of time` });
    } else if (this.clock) this.changed();
  }

  remaining(color: Color): number | undefined {
    return this.clock?.remaining(color, this.now());
  }

  /** Notes what somebody thinks of the position at a node. */
  judge(node: MoveNode, verdict: Verdict): void {
    if ((node.verdict?.depth ?? -1) > (verdict.depth ?? 0) && node.verdict?.by === verdict.by) return;
    node.verdict = verdict;
    this.changed();
  }

  questionAt(node: MoveNode): Question {
    return {
      fen: formatFen(this.tree.start),
      chess960: this.tree.start.chess960,
      moves: pathTo(node).map(({ uci }) => uci),
    };
  }

  private finish(ending: Ending): void {
    this.halt();
    this.clock?.stop(this.now());
    this.ending = ending;
    this.tell("end", `${ending.reason}: ${ending.result}.`);
    this.settle();
  }

  private halt(): void {
    this.asking?.abort();
    this.asking = undefined;
    this.thinking = undefined;
  }

  private tell(kind: Event["kind"], text: string): void {
    this.event = { kind, text, count: this.event.count + 1 };
  }

  private announce(before: Position, node: MoveNode): void {
    const kind = /[+#]$/.test(node.san) ? "check" : node.san.includes("x") ? "capture" : "move";
    this.tell(kind, `${colorName(before.turn)} plays ${node.san}.`);
  }

  /** Sees whether the game is over, or whether a network is to move, and tells the views. */
  private settle(): void {
    const position = this.isAtHead ? this.tree.position : this.tree.positionAt(this.head);
    const outcome = this.ending ? undefined : position.outcome();
    if (outcome) {
      const result = outcome.winner === undefined ? "1/2-1/2" : outcome.winner === "white" ? "1-0" : "0-1";
      this.ending = { result, reason: outcome.reason };
      this.clock?.stop(this.now());
      this.tell("end", `${this.event.text} ${outcome.reason}: ${result}.`);
    }
    const seat = this.seats[position.turn];
    const waits = !this.ending && !this.paused && !this.trouble && !this.asking;
    if (seat.kind === "network" && waits) this.ask(seat, position);
    this.changed();
  }

  private ask(seat: NetworkSeat, position: Position): void {
    const asking = new AbortController();
    const node = this.head;
    const { turn } = position;
    this.asking = asking;
    this.thinking = { color: turn, report: undefined };
    const by = this.nameOf(seat);
    const onReport = (report: Report) => {
      if (this.asking !== asking) return;
      this.thinking = { color: turn, report };
      this.judge(node, verdictOf(report, turn, by));
    };
    this.think(seat, this.questionAt(node), wishOf(seat, this.clock, this.now()), {
      signal: asking.signal,
      onReport,
    })
      .then((thought) => {
        if (this.asking !== asking) return;
        this.asking = undefined;
        this.thinking = undefined;
        this.reply(node, thought, verdictOf(thought, turn, by));
      })
      .catch((error: unknown) => {
        if (this.asking !== asking) return;
        this.halt();
        this.trouble = messageOf(error);
        this.changed();
      });
  }

  /** A network has moved: the board follows if it showed the head. */
  private reply(node: MoveNode, thought: Thought, verdict: Verdict): void {
    const shown = this.isAtHead ? undefined : this.tree.current;
    this.tree.go(node);
    const move = parseUci(this.tree.position, thought.move);
    if (move === undefined) {
      this.trouble = `The network chose ${thought.move}, which is not legal.`;
      this.changed();
      return;
    }
    node.verdict = verdict;
    this.play(move);
    this.head.verdict ??= { ...verdict, best: thought.lines[0]?.pv[1] };
    if (shown) this.tree.go(shown);
    this.changed();
  }
}
