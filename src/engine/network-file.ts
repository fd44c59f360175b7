import { readBytes } from "#base";
import { type FamilyName, findWeights, identifyNetwork, isFamily } from "#models";

/** A network somebody named. */
export interface NetworkFile {
  path: string; // as messages name it
  family: FamilyName;
  bytes: Uint8Array;
}

/** Reads the file a name means, as `findWeights` does, and finds out which family its network belongs to. */
export async function readNetworkFile(name: string): Promise<NetworkFile> {
  const path = await findWeights(name);
  const bytes = await readBytes(path);
  return { path, family: identifyNetwork(bytes, path), bytes };
}

const families = new Map<string, Promise<FamilyName>>(); // by path: many players of one network are made at once

/** The family of a network's file, which is read only once for it. */
export async function familyOf(name: string): Promise<FamilyName> {
  if (isFamily(name)) return name;
  const path = await findWeights(name);
  let family = families.get(path);
  if (!family) {
    family = readNetworkFile(name).then((file) => file.family);
    families.set(path, family);
    family.catch(() => families.delete(path));
  }
  return family;
}
