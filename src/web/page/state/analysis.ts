import { messageOf } from "#base";
import type { Color } from "#chess";
import type { Report } from "#engine";
import type { MindAsking } from "../minds/mind.js";
import type { Question, Thought, Wish } from "../minds/protocol.js";
import { Store } from "./store.js";
import { type Verdict, verdictOf } from "./verdict.js";

export const MOST_WATCHERS = 4;

/** A network that looks at the position on the board, and what it says of it. */
export interface Watcher {
  readonly network: string; // its id
  readonly search: string;
  isOn: boolean;
  report: Report | undefined;
  isDone: boolean; // nothing more will come for this position
  trouble: string | undefined;
  changes: readonly { depth: number; from: string; to: string }[]; // "changed its mind at depth 9"
}

export interface Opinion {
  place: number; // of the watcher
  network: string; // its id
  report: Report;
  verdict: Verdict;
}

/** Lets the network of a watcher think; `place` is its number among them. */
export type Watch = (
  place: number,
  watcher: Watcher,
  question: Question,
  wish: Wish,
  asking: MindAsking,
) => Promise<Thought>;

/** Up to four networks that look at the same position, each for itself. */
export class Analysis extends Store {
  watchers: readonly Watcher[] = [];
  isOn = false;
  lines = 3; // best lines asked for
  thinkMs = 15_000; // a position; a network without search answers at once

  private question: Question | undefined;
  private stops: AbortController[] = [];

  constructor(private readonly watch: Watch) {
    super();
  }

  /** Adds a network, if there is room. */
  add(network: string, search: string): void {
    if (this.watchers.length >= MOST_WATCHERS) return;
    const fresh = { report: undefined, isDone: false, trouble: undefined, changes: [] };
    this.watchers = [...this.watchers, { network, search, isOn: true, ...fresh }];
    this.restart();
  }

  remove(place: number): void {
    this.watchers = this.watchers.filter((_, i) => i !== place);
    this.restart();
  }

  /** Exchanges the network at a place. */
  replace(place: number, network: string, search: string): void {
    this.watchers = this.watchers.map((watcher, i) =>
      i === place ? { ...watcher, network, search, report: undefined, trouble: undefined } : watcher,
    );
    this.restart();
  }

  toggle(place: number): void {
    const watcher = this.watchers[place];
    if (!watcher) return;
    watcher.isOn = !watcher.isOn;
    this.restart();
  }

  switch(isOn: boolean): void {
    if (this.isOn === isOn) return;
    this.isOn = isOn;
    if (isOn) this.restart();
    else {
      this.rest(); // what was found stays to be read
      this.changed();
    }
  }

  ask(options: { lines?: number; thinkMs?: number }): void {
    Object.assign(this, options);
    this.restart();
  }

  /** Looks at another position from now on; undefined: at none, as the game is over. */
  follow(question: Question | undefined): void {
    if (JSON.stringify(question) === JSON.stringify(this.question)) return;
    this.question = question;
    this.restart();
  }

  /** Stops all, as in a tab that nobody sees. */
  rest(): void {
    for (const stop of this.stops) stop.abort();
    this.stops = [];
  }

  restart(): void {
    this.rest();
    for (const watcher of this.watchers)
      Object.assign(watcher, { report: undefined, isDone: false, trouble: undefined, changes: [] });
    const { question } = this;
    if (this.isOn && question)
      this.watchers.forEach((watcher, place) => {
        if (watcher.isOn) this.start(place, watcher, question);
      });
    this.changed();
  }

  /** What those that are on say of the position on the board, in White's view; `turn` is whose move it is there. */
  opinions(turn: Color): Opinion[] {
    return this.watchers.flatMap(({ report, isOn, network }, place) =>
      report && isOn ? [{ place, network, report, verdict: verdictOf(report, turn, network) }] : [],
    );
  }

  private start(place: number, watcher: Watcher, question: Question, isFirst = true): void {
    const stop = new AbortController();
    this.stops.push(stop);
    const hear = (report: Report) => {
      if (stop.signal.aborted || !hasOpinion(report)) return;
      noteChange(watcher, report);
      watcher.report = report;
      this.changed();
    };
    const wish: Wish = { multiPv: this.lines, moveTimeMs: this.thinkMs };
    this.watch(place, watcher, question, wish, { signal: stop.signal, onReport: hear })
      .then((thought) => {
        hear(thought);
        if (stop.signal.aborted) return;
        // The time of a first search may all go into loading the network; the second finds it there.
        if (!watcher.report && isFirst) {
          this.start(place, watcher, question, false);
          return;
        }
        watcher.isDone = true;
        if (!watcher.report) watcher.trouble = "It had no time to look at this position: this machine is very busy.";
      })
      .catch((error: unknown) => {
        if (!stop.signal.aborted) watcher.trouble = messageOf(error);
      })
      .finally(() => {
        if (!stop.signal.aborted) this.changed();
      });
  }
}

/** A tree that was not looked into yet has a line for each move, but no opinion; where there is one move only, none is needed. */
const hasOpinion = ({ lines, nodes }: Report): boolean => lines.length > 0 && (nodes !== 0 || lines.length === 1);

function noteChange(watcher: Watcher, report: Report): void {
  const [from, to] = [watcher.report?.lines[0]?.pv[0], report.lines[0].pv[0]];
  if (from !== undefined && from !== to)
    watcher.changes = [...watcher.changes, { depth: report.lines[0].depth ?? report.depth ?? 0, from, to }];
}

/**
 * How much networks disagree on a position, 0 to 1: half of it is the spread of the chances they give the mover, half the
 * share of pairs that would play different moves. Undefined with fewer than two opinions.
 */
export function dissent(opinions: readonly { best: string; share: number | undefined }[]): number | undefined {
  if (opinions.length < 2) return undefined;
  let [pairs, different] = [0, 0];
  opinions.forEach((a, i) => {
    for (const b of opinions.slice(i + 1)) {
      pairs++;
      if (a.best !== b.best) different++;
    }
  });
  const shares = opinions.flatMap(({ share }) => (share === undefined ? [] : [share]));
  const spread = shares.length < 2 ? 0 : Math.max(...shares) - Math.min(...shares);
  return (different / pairs + spread) / 2;
}
