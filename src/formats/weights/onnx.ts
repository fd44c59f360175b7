// What an ONNX file says of itself (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3): our own say which network
// they hold and how its input is made. Nothing else of them is read here; ONNX Runtime does that.
import { messageOf, UserError } from "#base";
import { Message } from "./protobuf.js";

const METADATA = 14; // metadata_props of the model: pairs of a key (1) and a value (2)

/** The metadata of a model file, by their names. */
export function readOnnxMetadata(bytes: Uint8Array, file: string): Record<string, string> {
  try {
    const pairs = new Message(bytes, file, "model").messages(METADATA, (i) => `metadata ${i}`);
    return Object.fromEntries(pairs.map((pair) => [pair.text(1) ?? "", pair.text(2) ?? ""]));
  } catch (error) {
    throw new UserError("ONNX_CORRUPT", `${file}: no ONNX model, or a damaged one. ${messageOf(error)}`);
  }
}
