import { type DataRecord, decodeBagRecord, decodePacked, eachRecord, type RawBatch, type RawForm } from "#formats";

/**
 * Divides records that know no games by where the pawns stand: all positions with the same pawns go to one side. That keeps
 * most neighbours in a game together, though not those a pawn move apart; nothing has to be remembered.
 */
export class PawnChooser {
  records = 0;
  private readonly structures = new Set<number>();

  constructor(
    private readonly form: RawForm,
    private readonly share: number,
    private readonly seed: number,
  ) {}

  /** Pawn structures seen, by a hash of 32 bits. */
  get games(): number {
    return this.structures.size;
  }

  sides(batch: RawBatch): Uint8Array {
    const sides = new Uint8Array(batch.ends.length);
    let i = 0;
    for (const record of eachRecord(batch)) {
      const hash = hashPawns(this.fenOf(record), this.seed);
      this.structures.add(hash);
      sides[i++] = hash / 2 ** 32 < this.share ? 1 : 0;
      this.records++;
    }
    return sides;
  }

  private fenOf(record: Uint8Array): string {
    if (this.form === "packed") return decodePacked(record).fen;
    if (this.form === "bag") return decodeBagRecord(record).fen;
    return (JSON.parse(new TextDecoder().decode(record)) as DataRecord).fen;
  }

  check(): void {}
}

/** A hash, 0 .. 2^32-1, of the pawns in a FEN and where they stand. */
function hashPawns(fen: string, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  let square = 0;
  for (const letter of fen) {
    if (letter === " ") break;
    if (letter === "/") continue;
    if (letter === "p" || letter === "P") hash = Math.imul(hash ^ (square + (letter === "p" ? 64 : 0)), 0x01000193);
    square += letter >= "1" && letter <= "8" ? Number(letter) : 1;
  }
  // FNV mixes the upper bits poorly for so few steps, and the upper ones decide.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
