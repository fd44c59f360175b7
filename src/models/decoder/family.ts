import { defineFamily } from "../family.js";
import { checkDecoder, DECODER_SCHEMA, DECODER_SIZES, type DecoderConfig } from "./config.js";
import { decoderInference } from "./inference.js";
import { Decoder } from "./network.js";

export const DECODER = defineFamily<DecoderConfig, Decoder>({
  sizes: DECODER_SIZES,
  schema: DECODER_SCHEMA,
  check: checkDecoder,
  network: Decoder,
  inference: decoderInference,
});
