import { BOARD_TOKENS, BOARD_VOCABULARY, MOVE_TABLES } from "#encodings";
import { defineFamily } from "../family.js";
import { checkDecoder, DECODER_SCHEMA, DECODER_SIZES, type DecoderConfig } from "./config.js";
import { decoderInference } from "./inference.js";
import { Decoder, POSITION_TOKENS } from "./network.js";

/** Of the tokens of one position, with no game before it: each earlier position would be looked at by every token too. */
function multiplyAdds({ width, layers, hidden, buckets, valueHidden, squares, frequencies }: DecoderConfig): number {
  const token = layers * (4 * width * width + 3 * width * hidden + 2 * POSITION_TOKENS * width);
  const board = BOARD_TOKENS * width * BOARD_VOCABULARY.length;
  const moves = width * MOVE_TABLES.moves1924.size;
  const between = squares > 0 ? 64 * width * (2 * squares + 3) + 64 * 64 * squares : 0; // from, to and promotion of moves
  const values = 2 * (width * valueHidden + valueHidden * buckets) + 2 * 2 * frequencies * width;
  return POSITION_TOKENS * token + board + moves + between + values;
}

/** The family of decoders, which write boards, moves and values token by token. */
export const DECODER = defineFamily<DecoderConfig, Decoder>({
  sizes: DECODER_SIZES,
  schema: DECODER_SCHEMA,
  check: checkDecoder,
  network: Decoder,
  multiplyAdds,
  inference: decoderInference,
});
