import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseTimeControl } from "#arena";
import { messageOf, UserError } from "#base";
import { type Color, parseFen, START_FEN } from "#chess";
import { type Player, resolvePlayer } from "#engine";
import { findOption, type Limits } from "#search";
import { command } from "./command.js";
import { hasColor } from "./table.js";
import { playTerminalGame } from "./terminal-game.js";

const MOVETIME_MS = 1_000;

/** Options by which UCI engines, ours too, are made weaker. */
async function limitStrength(player: Player, elo: number): Promise<void> {
  const [limit, level] = ["UCI_LimitStrength", "UCI_Elo"].map((name) => findOption(player.options, name));
  try {
    if (limit === undefined || level === undefined)
      throw new UserError("PLAY_ELO", `${player.name} cannot limit its strength; nnue@ab and many UCI engines can.`);
    await player.setOption(limit, "true");
    await player.setOption(level, String(elo));
  } catch (error) {
    await player.close();
    throw error;
  }
}

export default command({
  name: "play",
  summary: "Play a game against a player in the terminal.",
  details:
    "Type moves in SAN or UCI; hint, undo, flip, moves, fen, go, resign, quit and help are understood too. The game is printed as\n" +
    "PGN at the end. Input may also come from a pipe.",
  examples: [
    "tabiya play nnue@ab",
    "tabiya play --elo 1200 --tc 300+3",
    "tabiya play net.nnue@ab --color black --movetime 200",
    'tabiya play "uci:stockfish?UCI_LimitStrength=true&UCI_Elo=1500" --pgn my-games.pgn',
  ],
  arguments: {
    player: { help: "as nnue@ab, runs/a, runs/a@none, random or uci:stockfish; nnue@ab by default", optional: true },
  },
  options: {
    color: { choices: ["white", "black"], default: "white", help: "your pieces" },
    fen: { default: START_FEN, help: "starting position" },
    chess960: { type: "boolean", help: "the position is of Chess960" },
    elo: { type: "integer", minimum: 1, help: "strength the player limits itself to, if it can" },
    tc: { help: "clocks for both: seconds+increment, as 300+3" },
    movetime: {
      type: "integer",
      minimum: 1,
      help: "milliseconds the player may think; 1000 if no other limit is given",
    },
    nodes: { type: "integer", minimum: 1, help: "nodes it may search" },
    depth: { type: "integer", minimum: 1, help: "plies it may search" },
    pgn: { help: "file to append the game to" },
  },
  async run(
    { player: name = "nnue@ab", color, fen, chess960, movetime, nodes, depth, elo, tc, pgn },
    { print, json, signal },
  ) {
    const position = parseFen(fen, { chess960 });
    if (position.moves().length === 0)
      throw new UserError("PLAY_OVER", `${fen}: the game is over, there is no move to play.`);
    const control = tc === undefined ? undefined : parseTimeControl(tc);
    const isLimited = [nodes, depth, control].some((limit) => limit !== undefined);
    const moveTimeMs = movetime ?? (isLimited ? undefined : MOVETIME_MS);
    const limits: Limits = { nodes, depth, moveTimeMs };
    const looked = process.stdin.isTTY && process.stdout.isTTY && !json;
    const player = await resolvePlayer(name);
    if (elo !== undefined) await limitStrength(player, elo);
    // Only now: lines that come before somebody waits for them would be lost.
    const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
    signal.addEventListener("abort", () => lines.close());
    try {
      const game = await playTerminalGame(
        { player, position, human: color as Color, limits, control, date: new Date() },
        {
          lines: lines[Symbol.asyncIterator](),
          print,
          prompt: (text) => looked && process.stdout.write(text),
          board: looked,
          color: looked && hasColor(),
          now: () => performance.now(),
        },
      );
      if (pgn !== undefined) {
        try {
          appendFileSync(pgn, game.pgn);
        } catch (error) {
          throw new UserError("PLAY_PGN", `${pgn}: the game could not be added (${messageOf(error)}).`, {
            cause: error,
          });
        }
      }
      return game;
    } finally {
      lines.close();
      await player.close();
    }
  },
});
