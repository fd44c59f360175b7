import { readBytes } from "#base";
import { readNnueNetwork } from "#formats";
import { NnueEvaluator } from "#models";
import { command } from "./command.js";
import { FEN_OPTIONS, readFens } from "./fens.js";

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
  options: FEN_OPTIONS,

  async run({ net, ...positions }, { print, emit, signal }) {
    const evaluator = new NnueEvaluator(readNnueNetwork(await readBytes(net), net));
    for await (const { text, position } of readFens(positions)) {
      signal.throwIfAborted();
      const record = { fen: text, value: evaluator.evaluate(position) };
      print(JSON.stringify(record));
      emit(record);
    }
  },
});
