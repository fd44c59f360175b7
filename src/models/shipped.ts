import * as z from "zod";
import { messageOf, readText, shippedPath, UserError } from "#base";
import { type FamilyName, isFamily } from "./families.js";

/** A network that comes with the program: a line of nets/manifest.json. */
export interface ShippedNet {
  file: string; // in nets/
  family: FamilyName;
  bytes: number;
  summary: string; // what it is, in a few words
  recipe: string; // the file it was trained by
  data: string; // what it learnt from
  training: string; // how, and for how long
  commit: string; // of the program that trained it
  metrics: Record<string, number>; // of unseen games, and of the quantisation
  puzzles: { player: string; solved: Record<string, number> }; // share of 2,000 Lichess puzzles solved, by rating: "1000-1499"
  strength: string; // what was measured, against whom and how
}

const manifest = z.array(
  z.object({
    file: z.string(),
    family: z.string().refine(isFamily),
    bytes: z.int(),
    summary: z.string(),
    recipe: z.string(),
    data: z.string(),
    training: z.string(),
    commit: z.string(),
    metrics: z.record(z.string(), z.number()),
    puzzles: z.object({ player: z.string(), solved: z.record(z.string(), z.number()) }),
    strength: z.string(),
  }),
) satisfies z.ZodType<ShippedNet[]>;

/** The networks we ship, the best of each family first. */
export async function shippedNets(): Promise<ShippedNet[]> {
  const path = shippedPath("manifest.json");
  const text = await readText(path).catch(() => undefined);
  if (text === undefined) return [];
  try {
    return manifest.parse(JSON.parse(text));
  } catch (error) {
    throw new UserError("NET_MANIFEST", `${path}: damaged: ${messageOf(error)}`);
  }
}

/** The file of the shipped network of a family. */
export async function findShipped(family: FamilyName): Promise<string> {
  const nets = await shippedNets();
  const net = nets.find((each) => each.family === family);
  if (net) return shippedPath(net.file);
  throw new UserError(
    "NET_NOT_SHIPPED",
    `"${family}": no network of this family comes with the program; name a file or the folder of a run.\n` +
      `Shipped are: ${nets.map((each) => each.family).join(", ") || "none"}.`,
  );
}
