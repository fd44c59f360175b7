import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { Readable } from "node:stream";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".wasm": "application/wasm",
  ".csv": "text/csv; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".pgn": "application/x-chess-pgn",
};

const HASHED = /-[\w-]{8,}\.\w+$/; // Vite puts a fingerprint of the content into these names

/** A file as an answer. */
export async function sendFile(path: string, headers: Record<string, string> = {}): Promise<Response> {
  const { size } = await stat(path);
  const body = Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>;
  const type = TYPES[extname(path).toLowerCase()] ?? "application/octet-stream";
  return new Response(body, { headers: { "Content-Type": type, "Content-Length": String(size), ...headers } });
}

/**
 * The files of some folders by their addresses. An address is looked up among the names found in the folders, never made into
 * a path: none leads outside.
 */
export class StaticFiles {
  private files = new Map<string, string>();

  /** Folders with the address of each, as ["/nets/", "nets"]; the first that has a file gives it. */
  constructor(private readonly folders: readonly (readonly [string, string])[]) {}

  /** The file of an address; undefined if there is none. */
  async answer(address: string): Promise<Response | undefined> {
    const wanted = address === "/" ? "/index.html" : address;
    if (!this.files.has(wanted)) await this.list(); // the page may have been built anew
    const path = this.files.get(wanted);
    if (path === undefined) return undefined;
    const isFixed = wanted.startsWith("/assets/") && HASHED.test(wanted);
    return sendFile(path, { "Cache-Control": isFixed ? "public, max-age=31536000, immutable" : "no-cache" });
  }

  private async list(): Promise<void> {
    const found = new Map<string, string>();
    for (const [address, folder] of this.folders) {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const below = address + path.slice(join(folder, sep).length).split(sep).join("/");
        if (!found.has(below)) found.set(below, path);
      }
    }
    this.files = found;
  }
}
