import { messageOf, Random, readBytes, UserError } from "#base";
import { VALUE_SCALE_CP } from "#chess";
import { isLc0, readLc0, readOnnxMetadata, refuseOtherBytes } from "#formats";
import {
  buildEmpty,
  type NamedTensor,
  parametersOf,
  readSafetensors,
  type Safetensors,
  toFloat32,
  writeSafetensors,
} from "#tensor";
import { FAMILIES, type FamilyName, isFamily } from "./families.js";
import type { Network } from "./family.js";
import { Lc0 } from "./lc0.js";

/** A network's weights as a safetensors file that says itself what it is; `values` replace the weights by others. */
export function networkBytes(
  family: FamilyName,
  network: Network,
  values: (name: string, data: Float32Array) => Float32Array<ArrayBuffer> = (_, data) => data.slice(),
): Uint8Array {
  const tensors = parametersOf(network).map(
    ({ name, shape, data }): NamedTensor => ({
      name,
      dtype: "float32",
      shape: shape as readonly number[],
      data: values(name, data),
    }),
  );
  const { config, scoreScale = VALUE_SCALE_CP } = network;
  return writeSafetensors(tensors, {
    format: "tabiya",
    family,
    config: JSON.stringify(config),
    ...(scoreScale !== VALUE_SCALE_CP && { scoreScale: String(scoreScale) }),
  });
}

const isOnnx = (path: string): boolean => path.toLowerCase().endsWith(".onnx");

/** The family a file's network belongs to: by its name, or as it says itself. */
export function identifyNetwork(bytes: Uint8Array, path: string): FamilyName {
  if (isLc0(bytes)) return "lc0"; // whatever it is called
  const lower = path.toLowerCase();
  const names = Object.keys(FAMILIES) as FamilyName[];
  const owner = names.find((name) => FAMILIES[name].suffixes.some((suffix) => lower.endsWith(suffix)));
  if (owner) return owner;
  return isOnnx(path) ? exportedFamily(bytes, path).family : familyIn(readTensors(bytes, path).metadata, path);
}

/** The metadata of an ONNX file that `exportNetwork` wrote. */
function exportedFamily(bytes: Uint8Array, path: string): { family: FamilyName; metadata: Record<string, string> } {
  const metadata = readOnnxMetadata(bytes, path);
  const { family = "" } = metadata;
  if (isFamily(family) && metadata.config !== undefined) return { family, metadata };
  throw new UserError(
    "ONNX_FOREIGN",
    `${path}: an ONNX file that does not say how its input is made, so nobody here can play it.\n` +
      "Expected one that tabiya export wrote; networks of other programs are read from .nnue, .jnn and .pb.gz files.",
  );
}

/** A network ready to run, as it is in a file: what it is, and the model that computes it. */
export interface RunnableNetwork {
  family: FamilyName;
  network: Network; // of an ONNX file, only its config counts: the weights are in the model
  model?: Uint8Array; // ONNX, where the file holds one
}

/** The network of a file of weights, or of an ONNX file of ours in any precision. */
export function readRunnable(bytes: Uint8Array, path: string): RunnableNetwork {
  if (!isOnnx(path)) return readNetwork(bytes, path);
  const { family, metadata } = exportedFamily(bytes, path);
  // A weight is a byte at least; those of norms are folded into others.
  const network = buildFor(path, family, parseConfig(path, family, metadata.config), 2 * bytes.length);
  if (Number(metadata.scoreScale) > 0) network.scoreScale = Number(metadata.scoreScale);
  return { family, network, model: bytes };
}

function readTensors(bytes: Uint8Array, path: string): Safetensors {
  refuseOtherBytes(
    bytes,
    path,
    ["safetensors"],
    "a network: .safetensors, .nnue, .jnn, .tnn, lc0's .pb.gz, or .onnx of ours",
  );
  return readSafetensors(bytes, path);
}

function familyIn({ format, family }: Readonly<Record<string, string>>, path: string): FamilyName {
  if (format === "tabiya" && isFamily(family)) return family;
  throw new UserError(
    "WEIGHTS_FAMILY",
    `${path}: holds tensors, but does not say which network they belong to (family: ${family ?? "missing"}).\n` +
      `Expected a model.safetensors written by tabiya train, of a family of: ${Object.keys(FAMILIES).join(", ")}.`,
  );
}

/** Builds the network of a file written by `networkBytes`, or of lc0. */
export const loadNetwork = async (path: string): Promise<{ family: FamilyName; network: Network }> =>
  readNetwork(await readBytes(path), path);

/** The same of the file's bytes. */
export function readNetwork(bytes: Uint8Array, path: string): { family: FamilyName; network: Network } {
  if (isLc0(bytes))
    return {
      family: "lc0",
      network: buildEmpty(Number.MAX_SAFE_INTEGER, () => Lc0.of(readLc0(bytes, path), new Random(1))),
    };
  if (isOnnx(path))
    throw new UserError(
      "ONNX_WEIGHTS",
      `${path}: an ONNX file plays, but its weights cannot be taken out again. Use the .safetensors file or the run it came from.`,
    );
  const { tensors, metadata } = readTensors(bytes, path);
  const family = familyIn(metadata, path);
  const values = tensors.reduce((sum, { data }) => sum + data.length, 0);
  const network = buildFor(path, family, parseConfig(path, family, metadata.config), values);
  fill(path, network, tensors);
  if (Number(metadata.scoreScale) > 0) network.scoreScale = Number(metadata.scoreScale);
  return { family, network };
}

function parseConfig(path: string, family: FamilyName, text: string) {
  try {
    return FAMILIES[family].parse(JSON.parse(text));
  } catch (error) {
    throw new UserError("WEIGHTS_CONFIG", `${path}: its description of the network is damaged: ${messageOf(error)}`);
  }
}

/** A network that is no larger than the values in its file. */
function buildFor(path: string, family: FamilyName, config: object, values: number): Network {
  try {
    return buildEmpty(values, () => FAMILIES[family].build(config, new Random(1)));
  } catch (error) {
    if (!(error instanceof UserError && error.code === "TENSOR_LIMIT")) throw error;
    const what = `its description is of a larger network than its file, with at most ${values} values, can fill`;
    throw new UserError("WEIGHTS_CONFIG", `${path}: ${what}. The file is damaged.\nIt says: ${JSON.stringify(config)}`);
  }
}

function fill(path: string, network: Network, tensors: readonly NamedTensor[]): void {
  const found = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  for (const { name, shape, data } of parametersOf(network)) {
    const tensor = found.get(name);
    if (!tensor) throw new UserError("WEIGHTS_MISSING", `${path}: tensor ${name} is missing; the file is damaged.`);
    if (tensor.shape.join() !== shape.join()) {
      throw new UserError(
        "WEIGHTS_SHAPE",
        `${path}: tensor ${name} has shape [${tensor.shape.join(", ")}], but this model needs [${shape.join(", ")}].\n` +
          "The file was saved by a model of another size.",
      );
    }
    data.set(toFloat32(tensor));
  }
}
