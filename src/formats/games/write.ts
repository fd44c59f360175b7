import { formatFen, formatSan, isMateScore, MATE_CP, type Move, type Position, parseFen, START_FEN } from "#chess";
import { NO_CLOCK, NO_EVAL, type Result } from "./block.js";
import { escapeValue } from "./text.js";
import { parseVariant } from "./variant.js";

const WIDTH = 80; // columns, as the standard wants for export

/** A line of moves with what may stand beside them; `ply` counts from 0, before the first move. A Game is one. */
export interface Line {
  start?: Position; // the usual one if not given
  moves: ArrayLike<Move>;
  evals?: ArrayLike<number>; // centipawns in White's view as in Game, one more than moves
  clocksMs?: ArrayLike<number>;
  comments?(ply: number): readonly string[];
  nags?(ply: number): readonly number[];
  variations?(ply: number): readonly Line[]; // alternatives to the last of so many moves
}

export interface GameText extends Line {
  tags: ReadonlyMap<string, string>;
  result: Result;
}

/** 17 -> "0.17", 31995 -> "#3"; see the evals of Game. */
function formatEval(value: number): string {
  if (!isMateScore(value)) return (value / 100).toFixed(2);
  const moves = Math.ceil((MATE_CP - Math.abs(value)) / 2);
  return `#${value < 0 ? "-" : ""}${moves}`;
}

/** Milliseconds as h:mm:ss, with a fraction where there is one: for [%clk] and [%emt]. */
export function formatClock(ms: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const fraction =
    ms % 1000 === 0
      ? ""
      : `.${String(ms % 1000)
          .padStart(3, "0")
          .replace(/0+$/, "")}`;
  return `${Math.floor(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)}${fraction}`;
}

/** The words of a comment. No line may begin with "%" or like a tag: such a word keeps to the one before. */
function commentWords(parts: readonly string[]): string[] {
  const words = [`{ ${parts[0] ?? ""}`.trim()];
  for (const word of [...parts.slice(1), "}"]) {
    if (/^%|^\[(?!%)/.test(word)) words.push(`${words.pop()} ${word}`);
    else words.push(word);
  }
  return words;
}

/** The comments after so many plies as words; the first holds the evaluation and the clock. */
function* notesAt(line: Line, ply: number): Generator<string> {
  for (const nag of line.nags?.(ply) ?? []) yield `$${nag}`;
  const commands: string[] = [];
  const whiteCp = line.evals?.[ply] ?? NO_EVAL;
  if (whiteCp !== NO_EVAL) commands.push(`[%eval ${formatEval(whiteCp)}]`);
  const clock = line.clocksMs?.[ply] ?? NO_CLOCK;
  if (clock !== NO_CLOCK) commands.push(`[%clk ${formatClock(clock)}]`);
  const comments = line.comments?.(ply) ?? [];
  if (comments.length === 0 && commands.length > 0) yield* commentWords(commands);
  for (const [i, comment] of comments.entries()) {
    // A comment cannot hold its own end; a command as [%emt 0:00:01] stays on one line.
    const text = comment.replaceAll("}", ")").replace(/\s+/g, " ");
    const words = text.match(/(?:\[%[^\]]{1,40}\]|\S)+/g) ?? [];
    yield* commentWords(i === 0 ? [...commands, ...words] : words);
  }
}

/** The words of a line of moves. */
function* wordsOf(line: Line): Generator<string> {
  const position = (line.start ?? parseFen(START_FEN)).clone();
  yield* notesAt(line, 0);
  let numbered = false; // the number of the move is clear from the words before
  for (let i = 0; i < line.moves.length; i++) {
    if (position.turn === "white") yield `${position.fullmoves}.`;
    else if (!numbered) yield `${position.fullmoves}...`;
    yield formatSan(position, line.moves[i]);
    position.play(line.moves[i]);
    numbered = true;
    for (const word of notesAt(line, i + 1)) {
      numbered = false;
      yield word;
    }
    for (const variation of line.variations?.(i + 1) ?? []) {
      numbered = false;
      const words = [...wordsOf(variation)];
      if (words.length === 0) continue;
      words[0] = `(${words[0]}`;
      words[words.length - 1] += ")";
      yield* words;
    }
  }
}

function wrap(words: readonly string[]): string {
  let text = words[0];
  let column = text.length;
  for (const word of words.slice(1)) {
    const fits = column + 1 + word.length <= WIDTH;
    text += (fits ? " " : "\n") + word;
    column = fits ? column + 1 + word.length : word.length;
  }
  return text;
}

/** The tags to write: those of the game, and what its start and result make necessary. */
function tagsOf({ tags, start, result }: GameText): Map<string, string> {
  const all = new Map(tags);
  if (all.has("Result")) all.set("Result", result);
  if (!start) return all;
  if (start.chess960 && parseVariant(all.get("Variant")) !== "chess960") all.set("Variant", "Chess960");
  const fen = formatFen(start);
  if (fen !== START_FEN || all.has("FEN")) {
    if (!all.has("FEN")) all.set("SetUp", "1");
    all.set("FEN", fen);
  }
  return all;
}

const plainName = (name: string) => name.replace(/[^A-Za-z0-9_+#=:-]/g, "_") || "_";
const plainValue = (value: string) => value.replace(/[\r\n\t]+/g, " ");

/** A game as PGN, with an empty line after it: lines of at most 80 columns, SAN, and everything the game has besides. */
export function formatGame(game: GameText): string {
  // A name that comes twice would begin another game: of two that are written alike, the first one stays.
  const written = new Map<string, string>();
  for (const [name, value] of tagsOf(game)) if (!written.has(plainName(name))) written.set(plainName(name), value);
  let text = "";
  for (const [name, value] of written) text += `[${name} "${escapeValue(plainValue(value))}"]\n`;
  if (text !== "") text += "\n";
  return `${text}${wrap([...wordsOf(game), game.result])}\n\n`;
}
