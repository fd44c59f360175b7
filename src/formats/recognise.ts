// What a file is, by its first bytes: for messages that say what was given where something else was expected.
import { openBytes, openRandom, UserError } from "#base";
import { isLc0 } from "./weights/lc0.js";

/** A kind of file that can be told by how it begins. */
export interface FileKind {
  name: string; // as in "this is an ONNX model"
  suffixes: readonly string[]; // that such files usually have
  hint?: string; // what to do with it here
}

interface Known extends FileKind {
  isIt(bytes: Uint8Array, text: string): boolean; // text: the bytes as Latin-1
}

const HEAD = 1024; // bytes looked at

/** Begins with these bytes, given as Latin-1 text. */
const begins = (start: string) => (_: Uint8Array, text: string) => text.startsWith(start);
/** Has these bytes at an offset. */
const at = (offset: number, part: string) => (_: Uint8Array, text: string) => text.startsWith(part, offset);
/** A zip archive whose first member's name has this in it. */
const zipOf = (name: string) => (_: Uint8Array, text: string) =>
  text.startsWith("PK\x03\x04") && text.slice(30, 130).includes(name);
const has = (pattern: RegExp) => (_: Uint8Array, text: string) => pattern.test(text);

/** Field 1, the version of the format; field 2, the name of the program that wrote it. */
function isOnnx(bytes: Uint8Array, text: string): boolean {
  const [first, version, second, length] = bytes;
  return first === 0x08 && version < 32 && second === 0x12 && length < 64 && /^[\w.+ -]{2}/.test(text.slice(4));
}

const KINDS: readonly Known[] = [
  { name: "a network of lc0 or Maia", suffixes: ["pb", "pb.gz"], isIt: isLc0 },
  { name: "a network of Stockfish (.nnue)", suffixes: ["nnue"], isIt: at(1, "\x2f\xf3\x7a") },
  { name: "an ONNX model", suffixes: ["onnx"], isIt: isOnnx },
  { name: "a safetensors file", suffixes: ["safetensors"], isIt: at(5, "\0\0\0{") },
  { name: "a PyTorch checkpoint", suffixes: ["pt", "pth", "ckpt"], hint: "Only its own program can read it; export it to ONNX or safetensors there.", isIt: zipOf("data.pkl") }, // biome-ignore format: one kind a line
  { name: "an archive of NumPy arrays", suffixes: ["npz"], isIt: zipOf(".npy") },
  { name: "a NumPy array", suffixes: ["npy"], isIt: begins("\x93NUMPY") },
  { name: "a zip archive", suffixes: ["zip"], hint: "Unpack it first.", isIt: begins("PK\x03\x04") },
  { name: "a 7-Zip archive", suffixes: ["7z"], hint: "Unpack it first.", isIt: begins("7z\xbc\xaf\x27\x1c") },
  { name: "a RAR archive", suffixes: ["rar"], hint: "Unpack it first.", isIt: begins("Rar!\x1a\x07") },
  { name: "a tar archive", suffixes: ["tar"], hint: "Unpack it first.", isIt: at(257, "ustar") },
  { name: "a Parquet file", suffixes: ["parquet"], isIt: begins("PAR1") }, // biome-ignore format: one kind a line
  { name: "a binpack of training records", suffixes: ["binpack"], isIt: begins("BINP") },
  { name: "an SQLite database", suffixes: ["db", "sqlite", "sqlite3"], isIt: begins("SQLite format 3\0") },
  { name: "an HDF5 file", suffixes: ["h5", "hdf5"], isIt: begins("\x89HDF\r\n") },
  { name: "a PNG picture", suffixes: ["png"], isIt: begins("\x89PNG\r\n") },
  { name: "a JPEG picture", suffixes: ["jpg", "jpeg"], isIt: begins("\xff\xd8\xff") },
  { name: "a PDF document", suffixes: ["pdf"], isIt: begins("%PDF-") },
  { name: "a program of Linux", suffixes: [""], hint: "An engine is named as uci:FILE.", isIt: begins("\x7fELF") },
  {
    name: "a program of Windows",
    suffixes: ["exe"],
    hint: "An engine is named as uci:FILE.",
    isIt: (bytes, text) => text.startsWith("MZ") && bytes.length >= 64,
  },
  { name: "an HTML page", suffixes: ["html", "htm"], hint: "A download may have failed: open it in a browser to see why.", isIt: has(/^(\xef\xbb\xbf)?\s*<(!doctype html|html)\b/i) }, // biome-ignore format: one kind a line
  { name: "a pointer of Git LFS", suffixes: [], hint: "Fetch the file itself with: git lfs pull", isIt: begins("version https://git-lfs") }, // biome-ignore format: one kind a line
  { name: "a file of games (PGN)", suffixes: ["pgn"], hint: "Make records of games with: tabiya data import FILE -o NEW.bin", isIt: has(/^(\xef\xbb\xbf)?\s*\[(Event|Site|Date|White|Black|Result|FEN|SetUp) "/) }, // biome-ignore format: one kind a line
  { name: "a file of Lichess puzzles (CSV)", suffixes: ["csv"], isIt: begins("PuzzleId,FEN,Moves") },
  { name: "a file of positions (FEN or EPD)", suffixes: ["epd", "fen", "txt"], isIt: has(/^([pnbrqkPNBRQK1-8]{1,8}\/){7}[pnbrqkPNBRQK1-8]{1,8} [wb] /) }, // biome-ignore format: one kind a line
  { name: "a file of .plain records", suffixes: ["plain"], isIt: has(/^fen .+\r?\nmove /) },
];

/** What a file is by how it begins, unpacked; undefined if it could be anything. */
export function recognise(bytes: Uint8Array): FileKind | undefined {
  const head = bytes.subarray(0, HEAD);
  const text = String.fromCharCode(...head);
  return KINDS.find(({ isIt }) => isIt(head, text));
}

/** What a file is, whether it is compressed or not; undefined if that cannot be told, or if there is no such file. */
export async function recogniseFile(path: string, tell = recognise): Promise<FileKind | undefined> {
  if (path === "-") return undefined;
  try {
    const file = await openRandom(path);
    const raw = tell(file.read(0, Math.min(HEAD, file.size)).slice());
    file.close();
    if (raw || file.size === 0) return raw; // a pipe has no size, and what is read from it is gone
    let head = new Uint8Array(0);
    for await (const chunk of await openBytes(path)) {
      head = new Uint8Array([...head, ...chunk.subarray(0, HEAD)]);
      if (head.length >= HEAD) break;
    }
    return tell(head);
  } catch (error) {
    if (error instanceof UserError) return undefined; // what is wrong with it, its reader says better
    throw error;
  }
}

/** "FILE: this is an ONNX model; expected ...": for a file that plainly is something else. */
const wrongFile = (path: string, { name, hint }: FileKind, expected: string): UserError =>
  new UserError("FILE_WRONG", `${path}: this is ${name}; expected ${expected}.${hint ? `\n${hint.replaceAll("FILE", path)}` : ""}`); // biome-ignore format: one thought

const emptyFile = (path: string, expected: string): UserError =>
  new UserError("FILE_EMPTY", `${path}: the file is empty; expected ${expected}.`);

const TEXT: FileKind = { name: "a text file", suffixes: ["txt", "md", "json", "yaml"] };

/** Words and lines, and nothing that is no character. */
const isText = (bytes: Uint8Array): boolean =>
  bytes.length > 0 && bytes.subarray(0, HEAD).every((byte) => byte >= 32 || (byte >= 9 && byte <= 13));

/** What bytes are where none of a text are expected. */
const recogniseInBinary = (bytes: Uint8Array): FileKind | undefined =>
  recognise(bytes) ?? (isText(bytes) ? TEXT : undefined);

/** Refuses bytes of a binary file that are none, or plainly something else than a file with one of these suffixes has. */
export function refuseOtherBytes(bytes: Uint8Array, path: string, suffixes: readonly string[], expected: string): void {
  if (bytes.length === 0) throw emptyFile(path, expected);
  const kind = recogniseInBinary(bytes);
  if (kind && !kind.suffixes.some((suffix) => suffixes.includes(suffix))) throw wrongFile(path, kind, expected);
}

/** Whether there is a file under that name, and nothing in it. A pipe may still bring something. */
async function isEmpty(path: string): Promise<boolean> {
  if (path === "-") return false;
  try {
    return (await openBytes(path)).size === 0;
  } catch (error) {
    if (error instanceof UserError) return false; // its reader says what is wrong
    throw error;
  }
}

/** Refuses a file, compressed or not, that is empty or plainly something else; a text too if a `binary` one is expected. */
export async function refuseOther(
  path: string,
  suffixes: readonly string[],
  expected: string,
  { binary = false } = {},
): Promise<void> {
  if (await isEmpty(path)) throw emptyFile(path, expected);
  const kind = await recogniseFile(path, binary ? recogniseInBinary : recognise);
  if (kind && !kind.suffixes.some((suffix) => suffixes.includes(suffix))) throw wrongFile(path, kind, expected);
}

/** A sentence about a file whose name promises something else than it is; empty if there is nothing to say. */
export async function describeSurprise(path: string): Promise<string> {
  const kind = await recogniseFile(path);
  const suffix = /\.(\w+)(\.(zst|gz|bz2|zip))?$/.exec(path.toLowerCase())?.[1] ?? "";
  return kind && !kind.suffixes.includes(suffix) ? `${path} is ${kind.name}.` : "";
}
