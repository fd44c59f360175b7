import { UserError } from "#base";
import { parametersOf } from "#tensor";
import type { FamilyName } from "./families.js";
import type { Network } from "./family.js";

/** A network with where it came from, for messages. */
export interface NamedNetwork {
  path: string;
  family: FamilyName;
  network: Network;
}

/**
 * Gives a network the mean of its weights and those of others of the same kind. Runs that began with the same weights end in different
 * corners of one valley, and the middle is often better than either; of networks that were trained apart the mean is worth nothing.
 */
export function averageWeights(first: NamedNetwork, others: readonly NamedNetwork[]): void {
  const kind = ({ family, network }: NamedNetwork) => `${family} ${JSON.stringify(network.config)}`;
  for (const other of others) {
    if (kind(other) === kind(first)) continue;
    throw new UserError(
      "AVERAGE_OTHER",
      `${other.path} is not of the same kind as ${first.path}, so their weights have no mean:\n${kind(other)}\n${kind(first)}`,
    );
  }
  const all = [first, ...others].map(({ network }) => parametersOf(network).map(({ data }) => data));
  all[0].forEach((data, i) => {
    for (let k = 0; k < data.length; k++) data[k] = all.reduce((sum, weights) => sum + weights[i][k], 0) / all.length;
  });
}
