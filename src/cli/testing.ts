import { Random } from "#base";
import { formatFen, formatUci, parseFen, START_FEN } from "#chess";
import { encodePacked } from "#formats";
import type { Command } from "./command.js";
import { runProgram } from "./program.js";

/** Runs a command line without a process. */
export async function runLine(command: Command, ...argv: string[]) {
  let [stdout, stderr] = ["", ""];
  const output = {
    stdout: (text: string) => void (stdout += text),
    stderr: (text: string) => void (stderr += text),
  };
  const code = await runProgram([command], [...command.name.split(" "), ...argv], output, { version: "0" });
  return { code, stdout, stderr };
}

/** A .bin file of random games; `score` values a position for the side to move. */
export function randomRecords(count: number, { seed = 3, score = (random: Random) => random.below(800) - 400 } = {}) {
  const random = new Random(seed);
  const records = new Uint8Array(count * 40);
  let position = parseFen(START_FEN);
  for (let i = 0; i < count; i++) {
    if (position.outcome()) position = parseFen(START_FEN);
    const move = random.pick(position.moves());
    const record = { fen: formatFen(position), move: formatUci(position, move), score: score(random) };
    encodePacked({ ...record, ply: 1, result: 0 }, records.subarray(i * 40, i * 40 + 40));
    position.play(move);
  }
  return records;
}
