// UCI for players that do not search: each question is answered in one breath, so there is nothing to stop. `go infinite`
// and `go ponder` keep the answer until they are told, as the protocol wants.
import { messageOf } from "#base";
import { formatUci, type Position, parseFen, START_FEN } from "#chess";
import { drawBoard } from "./board.js";
import type { Line, Player } from "./player.js";
import { parseGo } from "./uci-go.js";
import { parsePosition } from "./uci-position.js";
import { applySetting, declareSettings, defaultSettings } from "./uci-settings.js";

const SETTINGS = ["MultiPV", "UCI_Chess960", "UCI_ShowWDL"] as const;

/** Serves one chess program until `quit` or the end of its lines. Never throws on what it hears. */
export async function runUciSearchless(
  lines: AsyncIterable<string>,
  print: (line: string) => void,
  { player, version }: { player: Player; version: string },
): Promise<void> {
  const settings = defaultSettings();
  const complain = (message: string) => {
    for (const text of message.split("\n")) print(`info string ${text.replace(/[^\x20-\x7e\u00a0-\uffff]/g, "?")}`);
  };
  let position = parseFen(START_FEN);
  let held: string | undefined; // a best move that waits for `stop` or `ponderhit`

  const release = () => {
    if (held !== undefined) print(`bestmove ${held}`);
    held = undefined;
  };

  const go = async (words: readonly string[]) => {
    const { infinite, ponder, limits, notes } = parseGo(position, words);
    for (const note of notes) complain(note);
    const legal = position.moves();
    if (legal.length === 0) {
      print(`info depth 0 score ${position.isCheck() ? "mate 0" : "cp 0"}`);
      print("bestmove (none)");
      return;
    }
    const { lines, move, timeMs } = await player.choose(position, { ...limits, multiPv: settings.MultiPV });
    lines.forEach((line, i) => {
      print(formatInfo(line, i + 1, timeMs, settings.UCI_ShowWDL));
    });
    held = formatUci(position, move);
    if (!infinite && !ponder) release();
  };

  const commands: Record<string, (words: readonly string[], line: string) => void | Promise<void>> = {
    uci() {
      print(`id name Tabiya ${version} ${player.name}`);
      print("id author the Tabiya project");
      for (const line of declareSettings(SETTINGS)) print(line);
      print("uciok");
    },
    isready: () => print("readyok"),
    async ucinewgame() {
      position = parseFen(START_FEN, { chess960: settings.UCI_Chess960 });
      await player.newGame();
    },
    setoption(words) {
      applySetting(settings, words.join(" "));
    },
    position(words) {
      position = parsePosition(words, settings.UCI_Chess960, complain);
    },
    go,
    stop: release,
    ponderhit: release,
    d() {
      for (const line of drawBoard(position)) print(line);
    },
    debug() {},
    register() {},
  };

  for await (const line of lines) {
    const [word = "", ...words] = line.trim().split(/\s+/);
    if (word === "quit") return;
    if (word === "") continue;
    const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (!command) {
      complain(`There is no command "${word.slice(0, 60)}".`);
      continue;
    }
    try {
      await command(words, line);
    } catch (error) {
      complain(messageOf(error));
      if (word === "go") print(`bestmove ${anyMove(position)}`);
    }
  }
  release();
}

const anyMove = (position: Position): string => {
  const [first] = position.moves();
  return first === undefined ? "(none)" : formatUci(position, first);
};

function formatInfo({ scoreCp, wdl, pv }: Line, rank: number, timeMs: number, showWdl: boolean): string {
  const score = scoreCp === undefined ? "" : ` score cp ${scoreCp}`;
  const shares = showWdl && wdl ? ` wdl ${wdl.join(" ")}` : "";
  return `info depth 1 seldepth 1 multipv ${rank}${score}${shares} nodes 1 time ${Math.round(timeMs)} pv ${pv.join(" ")}`;
}
