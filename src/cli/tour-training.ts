import { listFolder } from "#base";
import type { Command, Io } from "./command.js";
import match from "./match.js";
import { packageFile } from "./package-file.js";
import train from "./train.js";

const GAMES = packageFile("games/lichess.pgn.gz");
const SETTINGS = ["epochs=12", "batchSize=1024", "threads=1"]; // a few seconds on one core; more would learn these games by heart

/** Runs another command, with its defaults where nothing is given. */
function runCommand(command: Command, values: Record<string, unknown>, io: Io): Promise<object | undefined> {
  const presets = Object.entries(command.options).map(([name, { default: preset }]) => [name, preset]);
  return command.run({ ...Object.fromEntries(presets), ...values }, io);
}

/** A folder below runs/ that is not there yet. */
async function freshFolder(): Promise<string> {
  for (let number = 1; ; number++) {
    const folder = number === 1 ? "runs/tour" : `runs/tour-${number}`;
    if ((await listFolder(folder)) === undefined) return folder;
  }
}

/** From the built-in games to a network that plays; returns the folder of its run. */
export async function trainOnTour(io: Io): Promise<{ run: string; match: object | undefined }> {
  const run = await freshFolder();
  io.print("1. A network for the alpha-beta search learns from 900 built-in games");
  await runCommand(train, { recipe: "nnue-tiny", data: [GAMES], run, set: SETTINGS }, io);
  io.signal.throwIfAborted();
  io.print("\n2. It plays ten games against random moves, 500 nodes a move");
  const result = await runCommand(match, { a: `${run}@ab`, b: "random", games: 10, nodes: 500 }, io);
  io.print(
    `\nPlay against it: tabiya play ${run}@ab\nMore games, a stronger network: https://database.lichess.org, and tabiya recipes`,
  );
  return { run, match: result };
}
