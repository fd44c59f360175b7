import type { ContestInput } from "#data";
import type { ContestDetail, ContestGames, ContestSummary, DataFile, PlayerChoice } from "../../protocol/answers.js";
import type { StudioEvent } from "../../protocol/events.js";
import { ask, tell } from "./ask.js";
import { api } from "./server.js";
import { Store } from "./store.js";

const path = (id: string, rest = "") => `contests/${encodeURIComponent(id)}${rest}`;

/** The contests of the server; of the one that is watched, also its games. */
export class Contests extends Store {
  list: readonly ContestSummary[] = [];
  players: readonly PlayerChoice[] = [];
  books: readonly DataFile[] = [];
  detail: ContestDetail | undefined; // of the one that is watched
  games: ContestGames | undefined;
  private watched: string | undefined;
  private isWanted = false;
  private played = -1; // games of the watched contest when it was asked for last

  async load(): Promise<void> {
    this.isWanted = true;
    const [{ contests }, { players }, { files }] = await Promise.all([
      ask<{ contests: ContestSummary[] }>("contests"),
      ask<{ players: PlayerChoice[] }>("players"),
      ask<{ files: DataFile[] }>("data"),
    ]);
    this.list = contests;
    this.players = players;
    this.books = files.filter(({ kind }) => kind !== "records");
    this.changed();
    if (this.watched !== undefined) await this.refresh();
  }

  async watch(id: string | undefined): Promise<void> {
    if (this.watched === id) return;
    this.watched = id;
    this.detail = undefined;
    this.games = undefined;
    this.changed();
    if (id !== undefined) await this.refresh();
  }

  hear(event: StudioEvent): void {
    if (!this.isWanted) return;
    if (event.type === "hello") void this.load().catch(() => {});
    else if (event.type === "contest") {
      const { contest } = event;
      const isNew = !this.list.some(({ id }) => id === contest.id);
      this.list = isNew ? [contest, ...this.list] : this.list.map((each) => (each.id === contest.id ? contest : each));
      this.changed();
      if (contest.id === this.watched && contest.played !== this.played) void this.refresh().catch(() => {});
    } else if (event.type === "contest-gone") {
      this.list = this.list.filter(({ id }) => id !== event.id);
      this.changed();
    }
  }

  async start(name: string, spec: ContestInput): Promise<string> {
    const { id } = await tell<{ id: string }>("contests", { name, spec });
    await this.load();
    return id;
  }

  stop = (id: string): Promise<unknown> => tell(path(id, "/stop"));
  resume = (id: string): Promise<unknown> => tell(path(id, "/resume"));
  gameText = async (id: string, index: number): Promise<string> =>
    (await ask<{ pgn: string }>(path(id, `/games/${index}`))).pgn;

  /** All games, as a file. */
  async pgn(id: string): Promise<Blob> {
    const response = await api(`api/${path(id, "/pgn")}`);
    if (!response.ok) throw new Error("No game is finished yet.");
    return response.blob();
  }

  private async refresh(): Promise<void> {
    const id = this.watched;
    if (id === undefined) return;
    const [detail, games] = await Promise.all([ask<ContestDetail>(path(id)), ask<ContestGames>(path(id, "/games"))]);
    if (this.watched !== id) return;
    this.detail = detail;
    this.games = games;
    this.played = detail.contest.played;
    this.changed();
  }
}
