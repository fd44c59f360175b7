/** The variants whose rules we know: those of chess, from any start. */
export const VARIANTS = ["standard", "from-position", "chess960"] as const;
/** A variant of chess that games can be of. */
export type Variant = (typeof VARIANTS)[number];

/** What servers and programs write in a Variant tag; only its small letters and digits are compared. */
const NAMES: Record<Variant, RegExp> = {
  standard: /^(|standard|normal|chess|regular)$/,
  "from-position": /^fromposition$/,
  chess960: /^(chess960|960|frc|(chess)?fischer(random|andom)(chess)?(960)?|freestyle(chess)?)$/,
};

/** The variant that a Variant tag names (none means chess); undefined if its rules are not known here. */
export function parseVariant(tag = ""): Variant | undefined {
  const name = tag.toLowerCase().replace(/[^a-z0-9]/g, "");
  return VARIANTS.find((variant) => NAMES[variant].test(name));
}
