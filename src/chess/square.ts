/** 0..63, a1 = 0, b1 = 1, h8 = 63. */
export type Square = number;

/** The square a name such as "e4" means, or undefined. */
export function parseSquare(name: string): Square | undefined {
  if (!/^[a-h][1-8]$/.test(name)) return undefined;
  return (name.charCodeAt(1) - 49) * 8 + name.charCodeAt(0) - 97;
}

/** The name of a square: `e4`. */
export const formatSquare = (square: Square): string => "abcdefgh"[square & 7] + (1 + (square >> 3));
