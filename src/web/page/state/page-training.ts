import type { MatchState } from "#arena";
import type { Channel } from "#base";
import type { Inspection, JudgedPosition } from "#data";
import type { MetricsLine, StepReport } from "#training";
import { plainNames } from "../minds/mind.js";
import type { FromTrainer, ToTrainer, TrainedNetwork, TrainPlan } from "../minds/train-protocol.js";
import { Store } from "./store.js";

export const isGamesFile = (name: string): boolean => /\.pgn(\.(gz|zst|bz2))?$/i.test(name);

const BEFORE_ETA = 10; // steps: the first ones wait for the runtime to load

/** A training in this page: one file of games, one network at a time, all in memory. */
export class PageTraining extends Store {
  file: { name: string; address: string } | undefined;
  games: Inspection | undefined; // what the file holds, once it was looked at
  phase: "empty" | "looking" | "ready" | "preparing" | "training" | "stopping" | "stopped" | "finished" = "empty";
  isMatch = false; // games against random moves are being played
  note = "";
  trouble = "";
  plan: TrainPlan | undefined;
  report: StepReport | undefined;
  positions = { learnt: 0, unseen: 0 };
  lines: readonly MetricsLine[] = [];
  networks: readonly TrainedNetwork[] = [];
  boards: readonly JudgedPosition[] = []; // unseen positions as the latest network sees them
  match: MatchState | undefined; // of the latest match against random moves
  private channel: Channel | undefined;
  private begun: { step: number; ms: number } | undefined;

  constructor(
    private readonly startWorker: () => Channel,
    private readonly now: () => number,
  ) {
    super();
  }

  get isBusy(): boolean {
    return ["looking", "preparing", "training", "stopping"].includes(this.phase) || this.isMatch;
  }

  /** Seconds until the training ends, as far as its steps can tell. */
  get secondsLeft(): number | undefined {
    const { report, begun } = this;
    if (this.phase !== "training" || !report || !begun || report.step - begun.step < BEFORE_ETA) return undefined;
    return ((this.now() - begun.ms) / 1000 / (report.step - begun.step)) * (report.steps - report.step);
  }

  /** Takes a file of games in place of all that was here before. */
  async look(name: string, address: string): Promise<void> {
    await this.forget();
    this.file = { name, address: `${address}#${encodeURIComponent(name)}` };
    this.phase = "looking";
    this.tell({ type: "look", address: this.file.address });
    this.changed();
  }

  /** Begins a training, or goes on with the one that was stopped. */
  train(plan: Omit<TrainPlan, "address">, { resume = false } = {}): void {
    if (!this.file || this.isBusy) return;
    // A new one gets a worker of its own: what is left of the last one there goes with it.
    if (!resume) {
      this.close();
      Object.assign(this, { lines: [], networks: [], boards: [], match: undefined, report: undefined });
    }
    this.plan = { ...plan, address: this.file.address };
    Object.assign(this, { phase: "preparing", trouble: "", note: "", begun: undefined });
    this.tell({ type: "train", plan: this.plan, resume });
    this.changed();
  }

  stop(): void {
    if (this.phase === "training" || this.phase === "preparing") this.phase = "stopping";
    this.tell({ type: "stop" });
    this.changed();
  }

  /** Lets a network that was trained here play against random moves. */
  playRandom(network: TrainedNetwork, games: number): void {
    if (this.isBusy) return;
    Object.assign(this, { match: undefined, isMatch: true, trouble: "" });
    this.tell({ type: "match", network: network.bytes, games });
    this.changed();
  }

  /** Forgets the file and what came of it. */
  async forget(): Promise<void> {
    this.close();
    Object.assign(this, { phase: "empty", file: undefined, games: undefined, note: "", trouble: "", plan: undefined });
    Object.assign(this, { lines: [], networks: [], boards: [], match: undefined, report: undefined, isMatch: false });
    this.changed();
  }

  private close(): void {
    void this.channel?.close();
    this.channel = undefined;
  }

  private tell(message: ToTrainer): void {
    if (!this.channel) {
      const channel = this.startWorker();
      this.channel = channel;
      channel.listen(
        (heard) => {
          if (this.channel === channel) this.hear(heard as FromTrainer);
        },
        (reason) => {
          if (this.channel === channel) this.hear({ type: "failed", message: reason.message });
        },
      );
    }
    this.channel.post(message);
  }

  private hear(message: FromTrainer): void {
    switch (message.type) {
      case "looked":
        this.games = message.games;
        this.phase = "ready";
        break;
      case "note":
        this.note = plainNames(message.text);
        break;
      case "begun":
        this.positions = { learnt: message.positions, unseen: message.unseen };
        if (this.phase === "preparing") this.phase = "training";
        break;
      case "step":
        this.begun ??= { step: message.report.step, ms: this.now() };
        this.report = message.report;
        break;
      case "metrics":
        this.lines = message.isResumed ? message.lines : [...this.lines, ...message.lines];
        break;
      case "network": {
        const { network, boards } = message;
        this.networks = [...this.networks.filter(({ step }) => step < network.step), network];
        if (boards.length > 0) this.boards = boards;
        break;
      }
      case "ended":
        this.isMatch = false;
        if (this.phase !== "finished" && this.phase !== "ready") this.phase = message.isWhole ? "finished" : "stopped";
        break;
      case "matched":
        this.match = message.state;
        this.isMatch = !message.isOver;
        break;
      case "failed":
        this.fail(plainNames(message.message));
        break;
    }
    this.changed();
  }

  /** What was trained before stays; a file that could not be read goes. */
  private fail(message: string): void {
    this.trouble = message;
    this.isMatch = false;
    this.close();
    this.phase = this.games === undefined ? "empty" : this.networks.length > 0 ? "finished" : "ready";
  }
}
