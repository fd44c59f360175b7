import { ChessClock, formatTimeControl, type TimeControl } from "#arena";
import {
  type Color,
  formatFen,
  formatSan,
  formatUci,
  type Move,
  type Outcome,
  opposite,
  type Position,
  parseSan,
  parseUci,
} from "#chess";
import type { Choice, Player } from "#engine";
import { formatGame, type Result } from "#formats";
import type { Limits } from "#search";
import { drawBoard } from "./board.js";

export interface TerminalGame {
  player: Player;
  position: Position; // where the game begins; it is played on
  human: Color;
  limits: Limits; // of the player
  control?: TimeControl; // both have a clock; else nobody has
  date: Date;
}

export interface Terminal {
  lines: AsyncIterator<string>; // what the human types
  print(text: string): void;
  prompt(text: string): void; // shown before a line is awaited, where somebody looks
  board: boolean; // draws the board before every move of the human
  color: boolean; // the terminal knows colours
  now: () => number; // milliseconds
}

export interface FinishedGame {
  result: Result;
  reason: string; // "checkmate", "White resigned"; "unfinished"
  pgn: string;
  moves: string[]; // UCI
}

const HELP = `Type a move as Nf3, exd5, O-O, e8=Q or as g1f3, e7e8q; or
  hint    what the player would do in your place     undo    take your last move back
  flip    turn the board around                      board   draw it again
  moves   all legal moves                            fen     the position as text
  go      let the player move for you: you change sides
  resign  give the game up                           quit    stop here; the game stays unfinished`;

const nameOf = (color: Color) => (color === "white" ? "White" : "Black");

/** A score for people, of the side that has it: "+0.34", "mate in 3". */
function showScore({ lines }: Choice): string {
  const { mate, scoreCp } = lines[0] ?? {};
  if (mate !== undefined) return mate > 0 ? `mate in ${mate}` : `mated in ${-mate}`;
  return scoreCp === undefined ? "" : `${scoreCp < 0 ? "" : "+"}${(scoreCp / 100).toFixed(2)}`;
}

/** 65000 -> "1:05"; under ten seconds with tenths. */
const showTime = (ms: number): string =>
  ms < 10_000
    ? (ms / 1000).toFixed(1)
    : `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

/** A move as in a score sheet: "12. Nf3", "12... Nf6". */
const numbered = (position: Position, move: Move): string =>
  `${position.fullmoves}${position.turn === "white" ? "." : "..."} ${formatSan(position, move)}`;

/** Plays one game between a human and a player, until it is over or the lines end. */
export async function playTerminalGame(
  { player, position, human, limits, control, date }: TerminalGame,
  { lines, print, prompt, board: isShown, color, now }: Terminal,
): Promise<FinishedGame> {
  const start = position.clone();
  let mine = human;
  let below = human;
  let ended: { result: Result; reason: string } | undefined;

  const clocks = control && { white: new ChessClock(control), black: new ChessClock(control) };
  const readClock = (side: Color) => (clocks ? `${nameOf(side)} ${showTime(clocks[side].leftMs)}` : "");
  /** Takes the time of a move from the mover's clock; false if there was not so much. */
  const spend = (timeMs: number): boolean => {
    if (!clocks) return true;
    const side = position.turn;
    if (timeMs > clocks[side].leftMs) {
      ended = { result: side === "white" ? "0-1" : "1-0", reason: `${nameOf(side)} ran out of time` };
      return false;
    }
    clocks[side].spend(timeMs);
    return true;
  };

  const show = () => {
    const board = drawBoard(position, { color, below, marked: true });
    const sheet = scoreSheet(start, position, board.length - 1);
    print(`\n${board.map((row, i) => `${row}   ${sheet[i] ?? ""}`.trimEnd()).join("\n")}`);
    if (clocks) print(`   ${readClock("white")}   ${readClock("black")}`);
  };
  const clockNow = (): Limits["clock"] =>
    clocks &&
    control && {
      whiteMs: clocks.white.leftMs,
      blackMs: clocks.black.leftMs,
      whiteIncrementMs: control.incrementMs,
      blackIncrementMs: control.incrementMs,
      movesToGo: clocks[position.turn].movesToGo,
    };
  const think = async (): Promise<Choice> =>
    player.choose(position, clocks ? { ...limits, clock: clockNow() } : limits);

  const reply = async () => {
    if (isShown) prompt(`${player.name} thinks ...\r`);
    const before = now();
    const choice = await think();
    const isInTime = spend(now() - before);
    const score = showScore(choice);
    if (!isInTime) return;
    print(
      `${isShown ? "\x1b[K" : ""}${numbered(position, choice.move)}${score ? `   (${player.name}: ${score})` : ""}`,
    );
    position.play(choice.move);
  };

  const takeBack = () => {
    if (position.history.length < start.history.length + 2) {
      print("There is no move of yours to take back.");
      return;
    }
    position.undo();
    position.undo();
    if (isShown) show();
    else print(`Taken back; ${nameOf(position.turn)} to move.`);
  };

  /** What a line does, if it is no move. */
  const orders: Record<string, () => Promise<void> | void> = {
    undo: takeBack,
    async hint() {
      const choice = await think();
      const score = showScore(choice);
      print(`${player.name} would play ${formatSan(position, choice.move)}${score ? ` (${score})` : ""}.`);
    },
    flip() {
      below = opposite(below);
      show();
    },
    board: show,
    moves: () =>
      print(
        position
          .moves()
          .map((move) => formatSan(position, move))
          .join(" "),
      ),
    fen: () => print(formatFen(position)),
    go() {
      mine = opposite(mine);
      below = mine;
    },
    resign() {
      ended = { result: mine === "white" ? "0-1" : "1-0", reason: `${nameOf(mine)} resigned` };
    },
    quit() {
      ended = { result: "*", reason: "unfinished" };
    },
    help: () => print(HELP),
    "?": () => print(HELP),
  };

  await player.newGame();
  print(`You have the ${mine} pieces against ${player.name}. Type a move, or help.`);
  while (!ended) {
    const outcome = position.outcome();
    if (outcome) {
      ended = { result: resultOf(outcome), reason: outcome.reason };
      break;
    }
    if (position.turn !== mine) {
      await reply();
      continue;
    }
    if (isShown) show();
    let thoughtSince = now();
    // One line after another until the human has moved, or has ended the game.
    for (let moved = false; !moved && !ended && position.turn === mine; ) {
      prompt(`${position.fullmoves}${mine === "white" ? "." : "..."} `);
      const { value, done } = await lines.next();
      const text = done ? "quit" : value.trim();
      if (text === "") continue;
      const order = Object.hasOwn(orders, text.toLowerCase()) ? orders[text.toLowerCase()] : undefined;
      if (order) {
        const before = now();
        await order();
        thoughtSince += now() - before; // what the player thinks for a hint costs nobody
        continue;
      }
      const move = parseUci(position, text.toLowerCase()) ?? parseSan(position, text);
      if (move === undefined) {
        print(`"${text.slice(0, 40)}" is no legal move here. Try: moves, or help.`);
        continue;
      }
      if (!spend(now() - thoughtSince)) break;
      if (!isShown) print(numbered(position, move));
      position.play(move);
      moved = true;
    }
  }

  if (isShown) show();
  const { result, reason } = ended;
  print(`\n${result === "*" ? "The game is unfinished." : `${reason}: ${result}`}`);
  const white = mine === "white";
  const tags = new Map([
    ["Event", "A game in the terminal"],
    ["Site", "?"],
    ["Date", date.toISOString().slice(0, 10).replaceAll("-", ".")],
    ["Round", "-"],
    ["White", white ? "Human" : player.name],
    ["Black", white ? player.name : "Human"],
    ["Result", result],
    ...(control ? [["TimeControl", formatTimeControl(control)] as const] : []),
  ]);
  const played = position.history.slice(start.history.length);
  const pgn = formatGame({ tags, result, start, moves: played });
  print(`\n${pgn.trimEnd()}`);
  return { result, reason, pgn, moves: spell(start, played) };
}

const resultOf = ({ winner }: Outcome): Result =>
  winner === undefined ? "1/2-1/2" : winner === "white" ? "1-0" : "0-1";

function spell(start: Position, moves: readonly Move[]): string[] {
  const board = start.clone();
  return moves.map((move) => {
    const text = formatUci(board, move);
    board.play(move);
    return text;
  });
}

/** The last moves in two columns, at most so many lines. */
function scoreSheet(start: Position, now: Position, most: number): string[] {
  const board = start.clone();
  const rows: string[] = [];
  for (const move of now.history.slice(start.history.length)) {
    const san = formatSan(board, move);
    if (board.turn === "white") rows.push(`${String(board.fullmoves).padStart(3)}. ${san.padEnd(8)}`);
    else if (rows.length === 0) rows.push(`${String(board.fullmoves).padStart(3)}. ${"...".padEnd(8)}${san}`);
    else rows[rows.length - 1] += san;
    board.play(move);
  }
  return rows.slice(-most);
}
