import { readBytes, readShipped, UserError } from "#base";
import { type FamilyName, findWeights, identifyNetwork, isFamily } from "#models";
import { shippedNets } from "./shipped.js";

/** A network somebody named. */
export interface NetworkFile {
  path: string; // as messages name it
  family: FamilyName;
  bytes: Uint8Array;
}

/**
 * The file that is meant by the name of a network: the shipped one of a family, as "nnue"; a file; or the weights of a run
 * or checkpoint.
 */
export async function locateNetwork(name: string): Promise<{ path: string; shipped: string | undefined }> {
  if (!isFamily(name)) return { path: await findWeights(name), shipped: undefined };
  const nets = await shippedNets();
  const net = nets.find(({ family }) => family === name);
  if (net) return { path: `nets/${net.file}`, shipped: net.file };
  throw new UserError(
    "NET_NOT_SHIPPED",
    `"${name}": no network of this family comes with the program; name a file or the folder of a run.\n` +
      `Shipped are: ${nets.map(({ family }) => family).join(", ") || "none"}.`,
  );
}

/** Reads the file and finds out which family its network belongs to. */
export async function readNetworkFile(name: string): Promise<NetworkFile> {
  const { path, shipped } = await locateNetwork(name);
  const bytes = shipped === undefined ? await readBytes(path) : await readShipped(shipped);
  if (!bytes) throw new UserError("NET_MISSING", `${path}: named in nets/manifest.json, but not there.`);
  return { path, family: identifyNetwork(bytes, path), bytes };
}

const families = new Map<string, Promise<FamilyName>>(); // by path: many players of one network are made at once

/** The family of a network's file, which is read only once for it. */
export async function familyOf(name: string): Promise<FamilyName> {
  if (isFamily(name)) return name;
  const { path } = await locateNetwork(name);
  let family = families.get(path);
  if (!family) {
    family = readNetworkFile(name).then((file) => file.family);
    families.set(path, family);
    family.catch(() => families.delete(path));
  }
  return family;
}
