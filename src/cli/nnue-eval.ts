import { openBytes, readBytes, readLines, UserError } from "#base";
import { parseFen } from "#chess";
import { readNnueNetwork } from "#formats";
import { NnueEvaluator } from "#models";
import { command } from "./command.js";

export default command({
  name: "nnue eval",
  summary: "Evaluate positions with an NNUE network, without a search.",
  details:
    "Prints one JSON object per line: fen, and value in the network's own units (after / 16; 208 make a pawn of Stockfish 12) " +
    "for the side to move. Reads .nnue of Stockfish 12, .jnn in both dialects, and .tnn.",
  examples: [
    'tabiya nnue eval net.nnue --fen "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"',
    "tabiya nnue eval net.nnue --fens positions.txt",
  ],
  arguments: { net: { help: "the network's file" } },
  options: {
    fen: { help: "one position" },
    fens: { help: "a file with one FEN per line; - is standard input" },
    chess960: { type: "boolean", help: "castling rights are those of Chess960" },
  },
  async run({ net, fen, fens, chess960 }, { print, emit }) {
    if ((fen === undefined) === (fens === undefined))
      throw new UserError("OPTION_MISSING", "tabiya nnue eval needs either --fen or --fens.");
    const evaluator = new NnueEvaluator(readNnueNetwork(await readBytes(net), net));
    const value = (text: string) => {
      const record = { fen: text, value: evaluator.evaluate(parseFen(text, { chess960 })) };
      print(JSON.stringify(record));
      emit(record);
    };
    if (fen !== undefined) return void value(fen);
    let line = 0;
    for await (const text of readLines(await openBytes(fens as string), fens as string)) {
      line++;
      if (text.trim() === "") continue;
      try {
        value(text.trim());
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        throw new UserError(error.code, `${fens}: line ${line}: ${error.message}`);
      }
    }
  },
});
