import { type Color, formatSan, parseFen, START_FEN } from "#chess";
import type { GameRecord, PlayedMove } from "./game.js";

const WIDTH = 80; // columns, as the standard asks

/** Seconds as h:mm:ss.mmm, for [%clk] and [%emt]. */
function formatTime(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  const pad = (value: number, length: number) => String(value).padStart(length, "0");
  const [hours, minutes, seconds] = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60, whole / 1000];
  return `${hours}:${pad(minutes, 2)}:${pad(Math.floor(seconds) % 60, 2)}.${pad(whole % 1000, 3)}`;
}

/** The comment behind a move: what its player thought (in White's view, as PGN has it), its clock, its time. */
function formatThought({ thought, clockMs }: PlayedMove, mover: Color): string {
  if (!thought) return "";
  const { scoreCp, mate, depth, nodes, timeMs } = thought;
  const sign = mover === "white" ? 1 : -1;
  const words: string[] = [];
  if (mate !== undefined) words.push(`[%eval #${sign * mate}${depth === undefined ? "" : `,${depth}`}]`);
  else if (scoreCp !== undefined) {
    words.push(`[%eval ${((sign * scoreCp) / 100).toFixed(2)}${depth === undefined ? "" : `,${depth}`}]`);
  }
  if (clockMs !== undefined) words.push(`[%clk ${formatTime(clockMs)}]`);
  words.push(`[%emt ${formatTime(timeMs)}]`);
  if (nodes !== undefined) words.push(`${nodes} nodes`);
  return ` {${words.join(" ")}}`;
}

/** Where a line may be broken: at blanks, but not inside [%eval ...]. */
const splitWords = (text: string): string[] => text.match(/(?:\[%[^\]]*\]|[^\s[]|\[(?!%))+/g) ?? [];

export const resultOf = ({ winner }: Pick<GameRecord, "winner">): string =>
  winner === undefined ? "1/2-1/2" : winner === "white" ? "1-0" : "0-1";

/** PGN's word for how a game ended. */
function terminationOf({ ending, fault }: GameRecord): string {
  if (ending !== "fault") return ending === "rules" ? "normal" : "adjudication";
  return fault?.kind === "time" ? "time forfeit" : fault?.kind === "illegal move" ? "rules infraction" : "abandoned";
}

/**
 * A game as PGN, with an empty line at its end. `before` are tags that stand first, `after` further ones; what follows
 * from the game itself is added.
 */
export function formatRecord(
  record: GameRecord,
  before: readonly (readonly [string, string])[],
  after: readonly (readonly [string, string])[] = [],
): string {
  const position = parseFen(record.startFen, { chess960: record.chess960 });
  const tags: (readonly [string, string])[] = [...before, ["Result", resultOf(record)]];
  if (record.chess960) tags.push(["Variant", "Chess960"]);
  if (record.startFen !== START_FEN) tags.push(["SetUp", "1"], ["FEN", record.startFen]);
  tags.push(
    ["PlyCount", String(record.moves.length)],
    ["Termination", terminationOf(record)],
    ["Reason", record.reason],
    ...after,
  );
  const quoted = (text: string) => text.replace(/[\\"]/g, "\\$&").replace(/[\r\n]+/g, " ");

  const words: string[] = [];
  for (const [i, played] of record.moves.entries()) {
    const mover = position.turn;
    const number =
      mover === "white" ? `${position.fullmoves}. ` : i === 0 || played.thought ? `${position.fullmoves}... ` : "";
    words.push(...splitWords(`${number}${formatSan(position, played.move)}${formatThought(played, mover)}`));
    position.play(played.move);
  }
  if (record.fault) words.push(...splitWords(`{${record.fault.message.replace(/[{}\r\n]+/g, " ")}}`));
  words.push(resultOf(record));

  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    if (line !== "" && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  lines.push(line);
  return `${tags.map(([name, value]) => `[${name} "${quoted(value)}"]`).join("\n")}\n\n${lines.join("\n")}\n\n`;
}
