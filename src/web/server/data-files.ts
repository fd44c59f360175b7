import { type FileHandle, open, readdir, rm, stat, statfs } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { makeFolder, messageOf, renameFile, temporaryName, UserError } from "#base";
import { inspectData } from "#data";
import { formatOf } from "#formats";
import type { DataFile, DataInfo } from "../protocol/answers.js";

const HOME = "data"; // where uploads go
const DEPTH = 3; // folders below the working folder that are looked into
const MOST = 2_000; // files listed
const SKIPPED = [
  "runs",
  "node_modules",
  "dist",
  "contests",
  "src",
  "test",
  "docs",
  "assembly",
  "fuzz",
  "bench",
  "scripts",
];
const SPARE = 512 << 20; // bytes an upload leaves free on the disk
export const LARGEST_UPLOAD = 64 * 2 ** 30;

const isGames = (name: string) => /\.pgn(\.(zst|gz|bz2))?$/i.test(name);
const isOpenings = (name: string) => /\.epd(\.(zip|gz|zst|bz2))?$|\.pgn\.zip$/i.test(name);

const full = () => new UserError("DISK_FULL", "The disk is full, or nearly: make room, then try again.");

const kindOf = (name: string): DataFile["kind"] | undefined =>
  isGames(name) ? "games" : isOpenings(name) ? "openings" : formatOf(name) !== undefined ? "records" : undefined;

/**
 * The data files that may be used: those in the working folder and the folders that the server was told of. They are named by
 * ids of this list; an id that is not in it leads nowhere.
 */
export class DataFiles {
  constructor(
    private readonly folder: string,
    private readonly more: readonly string[], // further folders
  ) {}

  async list(): Promise<DataFile[]> {
    const files: DataFile[] = [];
    for (const root of [this.folder, ...this.more.map((path) => resolve(this.folder, path))])
      await this.walk(root, 0, files);
    return files.sort((a, b) => a.id.localeCompare(b.id));
  }

  /** The path of a file, as seen from the working folder. */
  async pathOf(id: string): Promise<string> {
    const files = await this.list();
    if (files.some((file) => file.id === id)) return id;
    throw new UserError(
      "ID_UNKNOWN",
      "There is no such data file in the studio's folder. Upload it, or start the studio with --data FOLDER.",
    );
  }

  async info(id: string): Promise<DataInfo> {
    const path = resolve(this.folder, await this.pathOf(id));
    const { size } = await stat(path);
    return { id, bytes: size, ...(await inspectData(path)) };
  }

  /** Writes an upload to the disk as it comes; a name that is taken is refused, and what is cut off leaves nothing. */
  async upload(name: string, chunks: AsyncIterable<Uint8Array>): Promise<{ id: string }> {
    if (kindOf(name) === undefined)
      throw new UserError(
        "FORMAT_UNKNOWN",
        `${name}: its name does not say what it is. Expected games (.pgn), records (.bin, .binpack, .jsonl, ...) or openings (.epd).`,
      );
    const home = join(this.folder, HOME);
    await makeFolder(home);
    const path = join(home, name);
    if (await stat(path).catch(() => undefined))
      throw new UserError(
        "NAME_TAKEN",
        `There is a file "${name}" in ${HOME}/ already. Rename yours, or use that one.`,
      );
    const part = temporaryName(path);
    const handle = await open(part, "wx");
    try {
      await this.write(handle, chunks, home);
      await handle.close();
      await renameFile(part, path);
    } catch (error) {
      await handle.close().catch(() => {});
      await rm(part, { force: true });
      if (error instanceof UserError) throw error;
      if ((error as NodeJS.ErrnoException).code === "ENOSPC") throw full();
      throw new UserError(
        "UPLOAD_FAILED",
        `${name}: the upload broke off (${messageOf(error)}). Nothing was kept; try again.`,
      );
    }
    return { id: `${HOME}/${name}` };
  }

  private async write(handle: FileHandle, chunks: AsyncIterable<Uint8Array>, folder: string): Promise<void> {
    let checked = 0;
    let written = 0;
    for await (const chunk of chunks) {
      if (written >= checked) {
        const { bavail, bsize } = await statfs(folder);
        if (bavail * bsize < SPARE) throw full();
        checked += SPARE / 4;
      }
      await handle.writeFile(chunk);
      written += chunk.length;
    }
    await handle.sync();
  }

  private async walk(folder: string, depth: number, files: DataFile[]): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (files.length >= MOST) return;
      const path = join(folder, entry.name);
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory()) {
        if (depth < DEPTH && !SKIPPED.includes(entry.name)) await this.walk(path, depth + 1, files);
        continue;
      }
      const kind = entry.isFile() ? kindOf(entry.name) : undefined;
      if (kind === undefined) continue;
      const id = relative(this.folder, path).split(sep).join("/");
      const found = await stat(path).catch(() => undefined); // it may be gone by now
      if (found && !files.some((file) => file.id === id)) files.push({ id, bytes: found.size, kind });
    }
  }
}
