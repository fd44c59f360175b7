import type { MetricsLine } from "#training";
import type { DataFile, DataInfo } from "../../protocol/answers.js";
import type { StudioEvent } from "../../protocol/events.js";
import type { MetricsPart, Mistakes, Recipes, RunDetail, RunSummary } from "../../protocol/runs.js";
import { ask, tell } from "./ask.js";
import { server } from "./server.js";
import { Store } from "./store.js";

interface Followed {
  lines: MetricsLine[];
  to: number; // bytes of the run's metrics that are known
}

/** The training runs of the server; of those that are followed, also what they measure. */
export class Runs extends Store {
  list: readonly RunSummary[] = [];
  recipes: Recipes | undefined;
  files: readonly DataFile[] = [];
  readonly details = new Map<string, RunDetail>();
  private readonly followed = new Map<string, Followed>();
  private filesAsked = 0; // how often; an answer older than the one that is shown is dropped
  private filesShown = 0;
  private isWanted = false; // all of it, not the list alone

  /** Asks for everything, now and whenever the server says that it must be asked again. */
  async load(): Promise<void> {
    this.isWanted = true;
    const [{ runs }, recipes] = await Promise.all([
      ask<{ runs: RunSummary[] }>("runs"),
      this.recipes ?? ask<Recipes>("recipes"),
      this.loadFiles(),
    ]);
    Object.assign(this, { list: runs, recipes });
    this.changed();
    await Promise.all([...this.followed.keys()].map((id) => this.fetch(id)));
  }

  /** Asks only which runs there are. */
  async loadList(): Promise<void> {
    this.list = (await ask<{ runs: RunSummary[] }>("runs")).runs;
    this.changed();
  }

  /** Follows the metrics of these runs, and of no others. */
  async follow(ids: readonly string[]): Promise<void> {
    for (const id of this.followed.keys()) if (!ids.includes(id)) this.followed.delete(id);
    const fresh = ids.filter((id) => !this.followed.has(id));
    for (const id of fresh) this.followed.set(id, { lines: [], to: 0 });
    await Promise.all(fresh.map((id) => this.fetch(id)));
  }

  linesOf(id: string): readonly MetricsLine[] {
    return this.followed.get(id)?.lines ?? [];
  }

  hear(event: StudioEvent): void {
    if (event.type === "hello") void (this.isWanted ? this.load() : this.loadList()).catch(() => {});
    else if (event.type === "run") {
      const isNew = !this.list.some(({ id }) => id === event.run.id);
      const before = this.list.find(({ id }) => id === event.run.id);
      this.list = isNew
        ? [event.run, ...this.list]
        : this.list.map((run) => (run.id === event.run.id ? event.run : run));
      const isFurther = before?.last?.epoch !== event.run.last?.epoch || before?.state !== event.run.state;
      if (this.followed.has(event.run.id) && isFurther) void this.loadDetail(event.run.id).catch(() => {});
      this.changed();
    } else if (event.type === "run-gone") {
      this.list = this.list.filter(({ id }) => id !== event.id);
      this.changed();
    } else if (event.type === "metrics") this.add(event.id, event);
    else if (event.type === "metrics-reset" && this.followed.has(event.id)) void this.fetch(event.id);
  }

  async start(name: string, settings: Record<string, unknown>): Promise<string> {
    const { id } = await tell<{ id: string }>("runs", { name, settings });
    await this.load();
    return id;
  }

  stop = (id: string): Promise<unknown> => tell(`runs/${encodeURIComponent(id)}/stop`);
  resume = (id: string): Promise<unknown> => tell(`runs/${encodeURIComponent(id)}/resume`);

  mistakes = (id: string, checkpoint: string): Promise<Mistakes> =>
    ask(`runs/${encodeURIComponent(id)}/checkpoints/${checkpoint}/mistakes`);

  log = async (id: string): Promise<string> => (await ask<{ text: string }>(`runs/${encodeURIComponent(id)}/log`)).text;

  inspect = (file: string): Promise<DataInfo> => ask(`data/${encodeURIComponent(file)}/info`);

  /** Where a worker finds the weights of a checkpoint; `version` tells one that was saved anew from the last. */
  addressOf(id: string, checkpoint: string, version: number): string {
    const query = new URLSearchParams({ token: server.token ?? "", version: String(version) });
    const path = `api/runs/${encodeURIComponent(id)}/checkpoints/${checkpoint}/network?${query}`;
    return `${path}#${encodeURIComponent(`${id} ${checkpoint}`)}.safetensors`;
  }

  /** Sends a file to the server's data folder; returns its id. */
  async upload(file: File): Promise<string> {
    const { id } = await ask<{ id: string }>(`data/${encodeURIComponent(file.name)}`, { method: "PUT", body: file });
    await this.loadFiles();
    return id;
  }

  private async loadFiles(): Promise<void> {
    const turn = ++this.filesAsked;
    const { files } = await ask<{ files: DataFile[] }>("data");
    if (turn < this.filesShown) return;
    this.filesShown = turn;
    this.files = files;
    this.changed();
  }

  async loadDetail(id: string): Promise<void> {
    this.details.set(id, await ask<RunDetail>(`runs/${encodeURIComponent(id)}`));
    this.changed();
  }

  /** Asks for all metrics of a run. */
  private async fetch(id: string): Promise<void> {
    const [{ lines, to }] = await Promise.all([
      ask<MetricsPart>(`runs/${encodeURIComponent(id)}/metrics`),
      this.loadDetail(id),
    ]).catch(() => [{ lines: [], to: 0 }]);
    if (this.followed.has(id)) this.followed.set(id, { lines, to });
    this.changed();
  }

  /** Takes what was added to a run; what does not join what is known is asked for anew. */
  private add(id: string, { from, to, lines }: MetricsPart): void {
    const followed = this.followed.get(id);
    if (!followed || to <= followed.to) return;
    if (from > followed.to) {
      void this.fetch(id);
      return;
    }
    const known = followed.lines.at(-1);
    const fresh = from === followed.to ? lines : lines.filter(({ step }) => known === undefined || step > known.step);
    this.followed.set(id, { lines: [...followed.lines, ...fresh], to });
    this.changed();
  }
}
