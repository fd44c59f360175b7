import { readdir, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isProcessAlive, makeFolder, UserError } from "#base";
import {
  type ContestInput,
  GameList,
  loadContestStatus,
  newStatus,
  parseContest,
  STATUS_SUFFIX,
  saveContestStatus,
} from "#data";
import { checkPlayer, parsePlayer } from "#engine";
import type { ContestDetail, ContestGames, ContestSummary } from "../protocol/answers.js";
import type { StartContest } from "../protocol/requests.js";
import type { DataFiles } from "./data-files.js";
import type { EventHub } from "./hub.js";
import type { Program } from "./program.js";

const HOME = "contests"; // where the server keeps those it starts; those of the working folder are shown too
const GAMES_AT_ONCE = 500;

interface Known {
  path: string; // of the status file
  print: string; // size and time of that file
  summary: ContestSummary;
  games?: GameList;
}

/** The contests of the working folder, whoever plays them: each is found by the status file beside its games. */
export class Contests {
  private readonly known = new Map<string, Known>();

  constructor(
    private readonly program: Program,
    private readonly data: DataFiles,
    private readonly hub: EventHub,
  ) {}

  /** Looks what has changed, and tells everybody. */
  async look(): Promise<void> {
    const seen = new Set<string>();
    for (const folder of [HOME, "."]) {
      for (const name of await readdir(resolve(this.program.folder, folder)).catch(() => [])) {
        if (!name.endsWith(STATUS_SUFFIX)) continue;
        const bare = name.slice(0, -STATUS_SUFFIX.length);
        const id = folder === HOME ? bare : `~${bare}`;
        seen.add(id);
        await this.lookAt(id, bare, resolve(this.program.folder, folder, name));
      }
    }
    for (const id of this.known.keys()) {
      if (seen.has(id)) continue;
      this.known.delete(id);
      this.hub.publish({ type: "contest-gone", id });
    }
  }

  async list(): Promise<ContestSummary[]> {
    await this.look();
    return [...this.known.values()].map(({ summary }) => summary).sort((a, b) => b.updatedMs - a.updatedMs);
  }

  async detail(id: string): Promise<ContestDetail> {
    const { summary } = await this.find(id);
    const list = await this.gamesOf(id);
    const counts = new Map<string, number>();
    for (const { reason } of list.games) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    const turning = list.games.reduce<ContestDetail["turning"]>(
      (most, game) => (Math.abs(game.llrStep ?? 0) > Math.abs(most?.llrStep ?? 0) ? game : most),
      null,
    );
    const endings = [...counts].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count);
    return { contest: summary, games: list.games.length, llrPath: list.llrPath, turning, endings };
  }

  async games(id: string, from: number | undefined): Promise<ContestGames> {
    const { games } = await this.gamesOf(id);
    const first = Math.max(0, Math.min(from ?? games.length - GAMES_AT_ONCE, games.length));
    return { games: games.slice(first, first + GAMES_AT_ONCE), from: first, total: games.length };
  }

  async gameText(id: string, index: number): Promise<string> {
    const text = await (await this.gamesOf(id)).text(index);
    if (text === undefined) throw new UserError("ID_UNKNOWN", "This game was not played yet.");
    return text;
  }

  /** The file of all games. */
  async pgnPath(id: string): Promise<string> {
    const path = pgnOf((await this.find(id)).path);
    if (!(await stat(path).catch(() => undefined)))
      throw new UserError("ID_UNKNOWN", "No game of this contest is finished yet.");
    return path;
  }

  async start({ name, spec: input }: StartContest): Promise<{ id: string }> {
    const spec = parseContest({ ...input, openings: await this.openings(input) });
    await this.look();
    if (this.known.has(name))
      throw new UserError(
        "NAME_TAKEN",
        `There is a contest "${name}" already. Choose another name, or resume that one.`,
      );
    if (spec.kind === "games")
      throw new UserError("CONTEST_KIND", "Here matches, tournaments and gauntlets are played.");
    for (const player of spec.players) await this.check(player);
    await makeFolder(join(this.program.folder, HOME));
    const path = join(this.program.folder, HOME, name + STATUS_SUFFIX);
    await saveContestStatus(path, newStatus(spec, Date.now()));
    try {
      await this.play(path, spec.kind);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    await this.look();
    return { id: name };
  }

  /** Refuses a player that is not there, before a contest of many games is begun with it. */
  private async check(player: string): Promise<void> {
    const spec = parsePlayer(player);
    const isHere =
      spec.kind === "network" && (await stat(resolve(this.program.folder, spec.network)).catch(() => false));
    if (!isHere) await checkPlayer(player);
  }

  async resume(id: string): Promise<{ id: string }> {
    const { summary, path } = await this.find(id);
    if (summary.phase === "running") throw new UserError("ALREADY_RUNNING", "This contest is being played.");
    await this.play(path, summary.spec.kind);
    await this.look();
    return { id };
  }

  async stop(id: string): Promise<{ id: string }> {
    const { summary } = await this.find(id);
    if (summary.phase !== "running") throw new UserError("NOT_RUNNING", "This contest is not being played.");
    this.program.stop(summary.process);
    return { id };
  }

  /** Has a contest played, and waits until it is, or has failed to start. */
  private async play(path: string, kind: string): Promise<void> {
    const before = await loadContestStatus(path);
    const command = kind === "match" ? "match" : "tournament";
    const child = await this.program.start([command, "--pgn", pgnOf(path), "--resume"]);
    await child.until(async () => (await loadContestStatus(path)).updatedMs > before.updatedMs);
    const { phase, message } = await loadContestStatus(path);
    if (phase === "failed") throw new UserError("CONTEST_FAILED", message);
  }

  /** The openings of a request: a book must be a file of our listing. */
  private async openings({ openings }: Record<string, unknown>): Promise<ContestInput["openings"]> {
    if (typeof openings !== "object" || openings === null) return {};
    const { file, ...rest } = openings as Record<string, unknown>;
    return { ...rest, ...(file !== undefined && { file: await this.data.pathOf(String(file)) }) };
  }

  private async lookAt(id: string, name: string, path: string): Promise<void> {
    const found = await stat(path).catch(() => undefined);
    if (!found) return;
    const before = this.known.get(id);
    const print = `${found.size} ${found.mtimeMs}`;
    const isSettled = before?.summary.phase !== "running" || isProcessAlive(before.summary.process);
    if (before?.print === print && isSettled) return;
    const status = await loadContestStatus(path).catch(() => undefined);
    if (!status) return; // no status of ours
    const summary = { ...status, id, name };
    this.known.set(id, { path, print, summary, games: before?.games });
    this.hub.publish({ type: "contest", contest: summary });
  }

  private async find(id: string): Promise<Known> {
    await this.look();
    const known = this.known.get(id);
    if (!known) throw new UserError("ID_UNKNOWN", "There is no such contest.");
    return known;
  }

  private async gamesOf(id: string): Promise<GameList> {
    const known = await this.find(id);
    known.games ??= new GameList(pgnOf(known.path), known.summary.spec);
    if (await known.games.update()) return known.games;
    known.games = new GameList(pgnOf(known.path), known.summary.spec); // the file was cut or replaced
    await known.games.update();
    return known.games;
  }
}

const pgnOf = (path: string): string => `${path.slice(0, -STATUS_SUFFIX.length)}.pgn`;
