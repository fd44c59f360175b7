import { suggestion, UserError } from "#base";
import { formatUci, type Position } from "#chess";
import {
  encodeBoard68,
  encodeFenTokens,
  encodeHalfKp,
  encodePlanes13,
  encodePlanes18,
  MOVE_TABLE_NAMES,
  MOVE_TABLES,
  ROW_LENGTHS,
} from "#encodings";
import { command } from "./command.js";
import { FEN_OPTIONS, readFens } from "./fens.js";

/** What each encoding makes of a position, as its JSON shows it. */
const ENCODERS: Record<string, (position: Position) => object> = {
  "fen-tokens": (position) => {
    const tokens = new Uint8Array(ROW_LENGTHS["fen-tokens"]);
    encodeFenTokens(position, tokens);
    return { tokens: [...tokens] };
  },
  board68: (position) => {
    const tokens = new Uint16Array(ROW_LENGTHS.board68);
    encodeBoard68(position, tokens);
    return { tokens: [...tokens] };
  },
  planes13: (position) => {
    const data = new Float32Array(ROW_LENGTHS.planes13);
    encodePlanes13(position, data);
    return { data: [...data] };
  },
  planes18: (position) => {
    const data = new Float32Array(ROW_LENGTHS.planes18);
    encodePlanes18(position, data);
    return { data: [...data] };
  },
  halfkp: (position) => {
    const seen = (color: "white" | "black") => {
      const out = new Uint16Array(32);
      return [...out.subarray(0, encodeHalfKp(position, color, out))];
    };
    return { white: seen("white"), black: seen("black") };
  },
  moves: (position) => ({
    moves: Object.fromEntries(
      position.moves().map((move) => {
        const indices = MOVE_TABLE_NAMES.map((table) => [table, MOVE_TABLES[table].encode(position, move)]);
        return [formatUci(position, move), Object.fromEntries(indices)];
      }),
    ),
  }),
};

export default command({
  name: "encode",
  summary: "Show what a network sees of a position: tokens, planes, features or move numbers.",
  details: `Encodings: ${Object.keys(ENCODERS).join(", ")}. One line of JSON per position.`,
  examples: [
    'tabiya encode fen-tokens --fen "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"',
    "tabiya encode halfkp --fens positions.txt --json",
  ],
  arguments: { encoding: { help: "which encoding" } },
  options: FEN_OPTIONS,

  async run({ encoding, ...positions }, { emit, print, signal }) {
    const encode = ENCODERS[encoding];
    if (!encode) {
      const known = Object.keys(ENCODERS);
      throw new UserError(
        "ENCODING_UNKNOWN",
        `There is no encoding "${encoding}".${suggestion(encoding, known)}\nKnown are: ${known.join(", ")}.`,
      );
    }
    for await (const { text, position } of readFens(positions)) {
      signal.throwIfAborted();
      const record = { fen: text, ...encode(position) };
      emit(record);
      print(JSON.stringify(record));
    }
  },
});
