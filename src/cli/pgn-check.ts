import { type ByteSource, openBytes, UserError } from "#base";
import { type BadGame, readGameBlocks, refuseOther } from "#formats";
import { command, type Io } from "./command.js";

const SHOWN = 10; // broken games told in full

interface Counts {
  games: number; // read in order, those of unknown variants too
  plies: number;
  errors: number; // broken games
  unsupported: number; // games of variants whose rules we do not know: their moves were not checked
  bytes: number; // of text, after decompression
  bad: { file: string; game: number; line: number; reason: string }[]; // the first few
}

async function* counted(source: ByteSource, counts: Counts): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    counts.bytes += chunk.length;
    yield chunk;
  }
}

/** How far a file is read, as text; nothing for a pipe, whose length nobody knows. */
const share = ({ size, bytesRead }: ByteSource) => (size ? `${Math.floor((100 * bytesRead) / size)} %, ` : "");

async function checkFile(path: string, counts: Counts, { progress, signal }: Io): Promise<void> {
  const before = { ...counts };
  const name = path === "-" ? "standard input" : path;
  let isPgn = false; // there is a game in it, or at least the tags of one
  const onBad = ({ source, game, line, reason, tags }: BadGame) => {
    counts.errors++;
    isPgn ||= tags > 0;
    if (counts.bad.length < SHOWN) counts.bad.push({ file: source, game, line, reason });
  };
  await refuseOther(path, ["pgn"], "games in PGN");
  const source = await openBytes(path);
  let shown = performance.now();
  for await (const block of readGameBlocks(counted(source, counts), { source: name, onBad })) {
    signal.throwIfAborted();
    counts.games += block.length;
    counts.plies += block.slots - block.length;
    isPgn = true;
    for (let i = 0; i < block.length; i++) if (block.unsupportedVariant(i) !== undefined) counts.unsupported++;
    if (performance.now() - shown > 500) {
      shown = performance.now();
      progress(`${name}: ${share(source)}${counts.games - before.games} games`);
    }
  }
  if (counts.bytes === before.bytes) {
    throw new UserError("PGN_EMPTY", `${name}: the file is empty; expected games in PGN.`);
  }
  if (!isPgn) {
    const first = counts.bad.find(({ file }) => file === name);
    const found = first ? `\nThe first thing in it, on line ${first.line}: ${first.reason}` : "";
    throw new UserError("PGN_NO_GAMES", `${name}: there is no game in this file that could be read.${found}`);
  }
}

export default command({
  name: "pgn check",
  summary: "Read files of games, check every move, and report the games that are broken.",
  details:
    "Reads .pgn, also compressed (.zst, .gz, .bz2, .zip), and - for standard input. `games` counts those that could be read, " +
    "`errors` those that are broken and were skipped. Games of variants other than chess and Chess960 are games, but their " +
    "moves are not checked (`unsupported`). Exits 1 if games were broken.",
  examples: [
    "tabiya pgn check games.pgn",
    "tabiya pgn check *.pgn.zst --json",
    "zstdcat big.pgn.zst | tabiya pgn check -",
  ],
  arguments: { files: { type: "strings", help: "files of games" } },

  async run({ files }, io) {
    const counts: Counts = { games: 0, plies: 0, errors: 0, unsupported: 0, bytes: 0, bad: [] };
    const start = performance.now();
    for (const file of files) await checkFile(file, counts, io);
    const seconds = (performance.now() - start) / 1000;
    const { games, plies, errors, unsupported, bytes, bad } = counts;
    const rate = `${(bytes / 1e6 / seconds).toFixed(0)} MB/s`;
    io.print(`${games} games, ${plies} plies, ${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(2)} s (${rate})`);
    if (unsupported > 0) io.print(`${unsupported} of them are of other variants: their moves were not checked`);
    io.print(errors === 0 ? "no broken games" : `${errors} broken games were skipped:`);
    for (const { file, game, line, reason } of bad) io.print(`  ${file}: game ${game}, line ${line}: ${reason}`);
    if (errors > bad.length) io.print(`  and ${errors - bad.length} more`);
    if (errors > 0) io.fail();
    const peakMemoryMb = Math.round(process.resourceUsage().maxRSS / 1024);
    return { games, plies, errors, seconds, bytes, unsupported, peakMemoryMb, bad };
  },
});
