import { z } from "zod";
import { readShipped, UserError } from "#base";
import { type NnueWeights, readNnueNetwork } from "#formats";

/** A network that comes with the program: a line of nets/manifest.json. */
export interface ShippedNet {
  file: string; // in nets/
  family: string;
  summary: string; // what it is, in a few words
  recipe: string; // the file it was trained by
  data: string; // what it learnt from
  metrics: Record<string, number>; // of unseen games, and of the quantisation
  strength: string; // what was measured, against whom and how
}

const manifest = z.array(
  z.object({
    file: z.string(),
    family: z.string(),
    summary: z.string(),
    recipe: z.string(),
    data: z.string(),
    metrics: z.record(z.string(), z.number()),
    strength: z.string(),
  }),
) satisfies z.ZodType<ShippedNet[]>;

/** The networks we ship, the best of each family first. */
export async function shippedNets(): Promise<ShippedNet[]> {
  const bytes = await readShipped("manifest.json");
  return bytes ? manifest.parse(JSON.parse(new TextDecoder().decode(bytes))) : [];
}

export async function readShippedNnue({ file }: ShippedNet): Promise<NnueWeights> {
  const bytes = await readShipped(file);
  if (!bytes) throw new UserError("NET_MISSING", `nets/${file}: named in nets/manifest.json, but not there.`);
  return readNnueNetwork(bytes, `nets/${file}`);
}
