// What happens to files that are dropped or chosen, wherever on the page.
import { messageOf, openBytes, readLines, readText } from "#base";
import { isNetworkFile } from "../state/networks.js";
import { isGamesFile } from "../state/page-training.js";
import { parseAny } from "../state/pgn.js";
import { MOST_PUZZLES, takePuzzles } from "../state/puzzles.js";
import { HUMAN } from "../state/seats.js";
import { notify } from "./notice.js";
import { describe, game, networks, puzzles, seatOf } from "./studio.js";

async function openFile(file: File): Promise<void> {
  const address = URL.createObjectURL(file);
  if (isNetworkFile(file.name)) {
    const entry = networks.addFile(file, address);
    await describe(entry); // throws in words if it is no network
    if (location.hash.startsWith("#/play")) {
      const color = game.seats.white.kind === "network" ? "white" : "black";
      game.sit(color, seatOf(entry.id));
      if (game.seats.white.kind === "network" && game.seats.black.kind === "network") game.sit("white", HUMAN);
    }
    notify(`${file.name} is here; it can take any seat.`);
  } else if (/\.csv(\.(gz|zst|bz2))?$/i.test(file.name)) {
    const taken = await takePuzzles(readLines(await openBytes(address), file.name), file.name);
    puzzles.load(taken, file.name);
    location.hash = "#/puzzles";
    if (taken.length === MOST_PUZZLES)
      notify(`The first ${MOST_PUZZLES.toLocaleString("en")} puzzles of ${file.name}.`);
  } else if (location.hash.startsWith("#/train") && isGamesFile(file.name)) {
    const { training } = await import("./train/page-training.js");
    if (training.isBusy) throw new Error("the training here must be stopped first.");
    await training.look(file.name, address);
  } else if (!/\.(pgn|fen|epd|txt)(\.(gz|zst|bz2))?$/i.test(file.name)) {
    throw new Error("expected a network (.tnn .nnue .jnn .pb.gz .safetensors .onnx), a game (.pgn) or puzzles (.csv).");
  } else {
    const read = parseAny(await readText(address));
    game.load(read);
    notify(read.skipped > 0 ? `Loaded the first of ${read.skipped + 1} games.` : `${file.name} is on the board.`);
  }
}

export async function openFiles(files: readonly File[]): Promise<void> {
  for (const file of files) {
    try {
      await openFile(file);
    } catch (error) {
      const message = messageOf(error);
      notify(message.startsWith(file.name) ? message : `${file.name}: ${message}`, "bad");
    }
  }
}
