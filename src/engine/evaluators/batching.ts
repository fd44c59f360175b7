import { breathe } from "#base";
import type { Position } from "#chess";
import type { Evaluation, Evaluator } from "#search";

/** A network fitted to search: one pass over some positions, which are read before the call returns. */
export interface Fit {
  readonly batchSize: number; // positions at once that are answered fastest, and the most it is asked
  readonly lanes?: number; // runs that are computed at the same time; 1 by default
  readonly scoreScale?: number; // as an evaluator's
  /** Equal for positions that get the same answer. */
  keyOf(position: Position): string;
  run(positions: readonly Position[]): Promise<Evaluation[]>;
  close(): Promise<void>;
}

interface Question {
  key: string;
  position: Position;
  answer: Promise<Evaluation>;
  resolve(evaluation: Evaluation): void;
  reject(error: unknown): void;
}

const REMEMBERED = 65_536; // answers, some 50 MB
const RUNS = 3; // under way: two are computed, and the next waits in a worker while we read the answers of the last

/**
 * Puts the questions of all who ask together into batches, and remembers the answers used last. Whoever waits for an
 * answer asks again as soon as it comes, so a batch leaves only after everybody had a turn, or when it is full.
 */
export class BatchingEvaluator implements Evaluator {
  readonly batchSize: number;
  readonly scoreScale: number | undefined;
  private readonly remembered = new Map<string, Evaluation>(); // the one used last is the last
  private readonly asked = new Map<string, Question>(); // waiting or under way
  private readonly waiting: Question[] = [];
  private readonly underWay: number[] = []; // positions of each run
  private readonly running = new Set<Promise<void>>(); // the same runs
  private isWoken = false;

  constructor(private readonly fit: Fit) {
    this.batchSize = fit.batchSize;
    this.scoreScale = fit.scoreScale;
  }

  evaluate(positions: readonly Position[]): Promise<Evaluation[]> {
    const answers = Promise.all(positions.map((position) => this.ask(position)));
    if (2 * this.waiting.length >= this.batchSize) this.launch();
    else this.wake();
    return answers;
  }

  recall(position: Position): Evaluation | undefined {
    return this.recallKey(this.fit.keyOf(position));
  }

  /** Waits for what is under way: a runtime that is ended while it computes takes the whole program with it. */
  async close(): Promise<void> {
    const error = new Error("the evaluator was closed");
    for (const { reject } of this.waiting.splice(0)) reject(error);
    await Promise.all(this.running);
    await this.fit.close();
  }

  private recallKey(key: string): Evaluation | undefined {
    const known = this.remembered.get(key);
    if (known) {
      this.remembered.delete(key);
      this.remembered.set(key, known);
    }
    return known;
  }

  private ask(position: Position): Evaluation | Promise<Evaluation> {
    const key = this.fit.keyOf(position);
    const known = this.recallKey(key) ?? this.asked.get(key)?.answer;
    if (known) return known;
    let [resolve, reject]: [Question["resolve"], Question["reject"]] = [() => {}, () => {}];
    const answer = new Promise<Evaluation>((...ends) => {
      [resolve, reject] = ends;
    });
    const question = { key, position: position.clone(), answer, resolve, reject };
    this.asked.set(key, question);
    this.waiting.push(question);
    return answer;
  }

  private wake(): void {
    if (this.isWoken || this.waiting.length === 0) return;
    this.isWoken = true;
    void breathe().then(() => {
      this.isWoken = false;
      this.launch();
    });
  }

  /**
   * Starts as many runs as are worth it: lanes that are free get equal shares of what waits, and one more run must not be
   * much smaller than the first.
   */
  private launch(): void {
    const { underWay, waiting } = this;
    while (waiting.length > 0 && underWay.length < RUNS) {
      const [first = 0] = underWay;
      if (waiting.length < Math.min(this.batchSize, first / 2)) return;
      const free = Math.max(1, (this.fit.lanes ?? 1) - underWay.length);
      const run = this.run(waiting.splice(0, Math.min(this.batchSize, Math.ceil(waiting.length / free))));
      this.running.add(run);
      void run.then(() => this.running.delete(run));
    }
  }

  private async run(questions: readonly Question[]): Promise<void> {
    this.underWay.push(questions.length);
    try {
      const evaluations = await this.fit.run(questions.map(({ position }) => position));
      for (const [i, { key, resolve }] of questions.entries()) {
        this.remember(key, evaluations[i]);
        resolve(evaluations[i]);
      }
    } catch (error) {
      for (const { reject } of questions) reject(error);
    } finally {
      for (const { key } of questions) this.asked.delete(key);
      this.underWay.shift();
      this.wake();
    }
  }

  private remember(key: string, evaluation: Evaluation): void {
    if (this.remembered.size >= REMEMBERED) {
      const [oldest] = this.remembered.keys();
      this.remembered.delete(oldest);
    }
    this.remembered.set(key, evaluation);
  }
}
