import { assert, atPlace, Random, UserError } from "#base";
import { type Move, type Position, parseFen, parseSan, START_FEN } from "#chess";

/** Where a game begins. */
export interface Opening {
  fen: string;
  moves: readonly Move[]; // played from there before the players take over
  chess960: boolean;
}

/** Many openings, each understood only when it is asked for. */
export interface OpeningBook {
  readonly length: number;
  at(index: number): Opening;
}

/** Whether castling here cannot be spelled as in ordinary chess. */
export function needsChess960(position: Position): boolean {
  for (const color of ["white", "black"] as const) {
    const { short, long } = position.castlingRooks(color);
    const home = color === "white" ? 0 : 56;
    if (short === undefined && long === undefined) continue;
    const king = position.pieceAt(home + 4);
    if (king?.role !== "king" || king.color !== color) return true;
    if ((short ?? home + 7) !== home + 7 || (long ?? home) !== home) return true;
  }
  return false;
}

/** The position an EPD line begins with, as a FEN: four fields, or six if numbers follow. */
export function fenOfEpd(line: string): string {
  const fields = line.trim().split(/\s+/);
  const counted = /^\d+$/.test(fields[4] ?? "") && /^\d+$/.test(fields[5] ?? "");
  return fields.slice(0, counted ? 6 : 4).join(" ");
}

/** A book with one position a line (EPD or FEN). Empty lines and lines that begin with # do not count. */
export function parseEpdBook(lines: readonly string[], name: string): OpeningBook {
  const numbers: number[] = [];
  lines.forEach((line, i) => {
    if (line.trim() !== "" && !line.startsWith("#")) numbers.push(i);
  });
  if (numbers.length === 0)
    throw new UserError("BOOK_EMPTY", `${name}: no opening in it; expected one position a line.`);
  return {
    length: numbers.length,
    at(index) {
      const number = numbers[index];
      const fen = fenOfEpd(lines[number]);
      const position = atPlace(`${name}, line ${number + 1}`, () => parseFen(fen, { chess960: true }));
      return { fen, moves: [], chess960: needsChess960(position) };
    },
  };
}

/** The book in another order, the same for the same seed. */
export function shuffleBook(book: OpeningBook, seed: number): OpeningBook {
  const order = new Random(seed).shuffle(Uint32Array.from({ length: book.length }, (_, i) => i));
  return { length: book.length, at: (index) => book.at(order[index]) };
}

// What is played when no book is given: well-known openings of four to six plies, roughly even.
const LINES = `
e4 e5 Nf3 Nc6 Bb5 a6 | e4 e5 Nf3 Nc6 Bc4 Bc5 | e4 e5 Nf3 Nc6 d4 exd4 | e4 e5 Nf3 Nf6 Nxe5 d6 | e4 e5 Nc3 Nf6 f4 d5
e4 e5 Bc4 Nf6 d3 c6 | e4 e5 f4 d5 | e4 e5 Nf3 d6 d4 Nf6 | e4 e5 Nf3 Nc6 Nc3 Nf6 | e4 e5 Nf3 Nc6 c3 Nf6
e4 c5 Nf3 d6 d4 cxd4 | e4 c5 Nf3 Nc6 Bb5 g6 | e4 c5 Nf3 e6 d4 cxd4 | e4 c5 Nc3 Nc6 g3 g6 | e4 c5 c3 Nf6 e5 Nd5
e4 c5 d4 cxd4 c3 Nf6 | e4 c5 Nf3 Nc6 d4 cxd4 | e4 c5 f4 d5 exd5 Nf6 | e4 e6 d4 d5 Nc3 Bb4 | e4 e6 d4 d5 Nd2 Nf6
e4 e6 d4 d5 e5 c5 | e4 e6 d4 d5 exd5 exd5 | e4 e6 d3 d5 Nd2 Nf6 | e4 c6 d4 d5 Nc3 dxe4 | e4 c6 d4 d5 e5 Bf5
e4 c6 d4 d5 exd5 cxd5 | e4 c6 Nc3 d5 Nf3 Bg4 | e4 d5 exd5 Qxd5 Nc3 Qa5 | e4 Nf6 e5 Nd5 d4 d6 | e4 d6 d4 Nf6 Nc3 g6
e4 g6 d4 Bg7 Nc3 d6 | e4 Nc6 d4 d5 Nc3 dxe4 | e4 b6 d4 Bb7 Bd3 e6 | d4 d5 c4 e6 Nc3 Nf6 | d4 d5 c4 c6 Nf3 Nf6
d4 d5 c4 dxc4 Nf3 Nf6 | d4 d5 c4 Nc6 Nc3 dxc4 | d4 d5 Nf3 Nf6 Bf4 c5 | d4 d5 c4 e5 dxe5 d4 | d4 d5 Nc3 Nf6 Bg5 Nbd7
d4 Nf6 c4 e6 Nc3 Bb4 | d4 Nf6 c4 e6 Nf3 b6 | d4 Nf6 c4 e6 g3 d5 | d4 Nf6 c4 g6 Nc3 Bg7 | d4 Nf6 c4 g6 Nc3 d5
d4 Nf6 c4 c5 d5 b5 | d4 Nf6 c4 c5 d5 e6 | d4 Nf6 c4 e5 dxe5 Ng4 | d4 Nf6 Bg5 Ne4 Bf4 d5 | d4 Nf6 Nf3 e6 Bg5 c5
d4 f5 g3 Nf6 Bg2 e6 | d4 f5 c4 Nf6 Nc3 g6 | d4 d6 c4 e5 Nf3 e4 | d4 g6 c4 Bg7 Nc3 d6 | c4 e5 Nc3 Nf6 Nf3 Nc6
c4 c5 Nf3 Nf6 Nc3 d5 | c4 Nf6 Nc3 e6 e4 d5 | c4 e6 Nf3 d5 g3 Nf6 | c4 g6 Nc3 Bg7 g3 e5 | c4 f5 Nc3 Nf6 g3 g6
Nf3 d5 g3 Nf6 Bg2 c6 | Nf3 d5 c4 d4 g3 c5 | Nf3 Nf6 g3 b5 Bg2 Bb7 | Nf3 c5 c4 Nc6 d4 cxd4 | b3 e5 Bb2 Nc6 e3 Nf6
f4 d5 Nf3 Nf6 e3 g6 | g3 d5 Bg2 e5 d3 Nf6 | Nc3 d5 e4 d4 Nce2 e5 | b4 e5 Bb2 Bxb4 Bxe5 Nf6 | e3 d5 b3 Nf6 Bb2 g6`;

/** The openings used when no book is given. */
export function builtInBook(): OpeningBook {
  const lines = LINES.split(/[|\n]/).filter((line) => line.trim() !== "");
  return {
    length: lines.length,
    at(index) {
      const position = parseFen(START_FEN);
      for (const san of lines[index].trim().split(" ")) {
        const move = parseSan(position, san);
        assert(move !== undefined, `built-in opening ${lines[index]}: ${san}`);
        position.play(move);
      }
      return { fen: START_FEN, moves: [...position.history], chess960: false };
    },
  };
}
