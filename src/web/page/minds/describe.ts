// What a file of weights says of itself.
import { readBytes } from "#base";
import { PLAYING_FAMILIES } from "#engine";
import { identifyNetwork, nnueName, nnueParameters, readRunnable } from "#models";
import { parametersOf } from "#tensor";

/** A network as the page lists it. */
export interface Description {
  family: string;
  searches: readonly string[]; // it can be played with, the usual one first
  facts: Readonly<Record<string, string>>;
}

const short = (count: number): string =>
  count < 1e6 ? `${Math.round(count / 1e3)} k` : `${(count / 1e6).toFixed(1)} M`;

/** Reads a network at an address; rejects in words if it is none. */
export async function describeNetwork(address: string): Promise<Description> {
  const bytes = await readBytes(address);
  const family = identifyNetwork(bytes, address);
  const playing = PLAYING_FAMILIES[family];
  const facts: Record<string, string> = {};
  if (playing.nnue && !address.endsWith(".safetensors")) {
    const weights = playing.nnue({ bytes, path: address, family });
    facts["Shape"] = nnueName(weights);
    facts["Parameters"] = short(nnueParameters(weights));
  } else if (/\.(safetensors|onnx)$/i.test(address)) {
    const { network, model } = readRunnable(bytes, address);
    const config = Object.entries(network.config).filter(([, value]) => typeof value !== "object");
    facts["Shape"] = config.map(([name, value]) => `${name} ${value}`).join(", ");
    if (model) facts["Form"] = "ONNX, as exported";
    facts["Parameters"] = short(parametersOf(network).reduce((sum, { data }) => sum + data.length, 0));
  }
  return { family, searches: playing.searches, facts };
}
