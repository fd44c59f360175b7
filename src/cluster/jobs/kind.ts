/** What jobs find where they are done. */
export interface Workplace {
  /** The path of a file that jobs name by its hash. */
  path(name: string): string;
  /** A player of a job as this machine knows it. */
  player(text: string): string;
  threads: number; // for each network to compute with; 0: one per core
}

/** A kind of work: how it is checked, what it needs, how it is done. */
export interface JobKind<J> {
  /** Checks one that came from elsewhere. */
  parse(value: unknown): J;
  players(job: J): readonly string[];
  /** Names of the files besides networks, of which only this job knows, and of those that other jobs share. */
  files(job: J): { own?: string; shared?: string };
  items(job: J): number | undefined; // lines of its result; undefined if only the file of the job tells
  /** Jobs that one core does best at the same time: many trees fill the batches of a network. */
  crowd(job: J): number;
  /** Does the job; the lines are its result. */
  run(job: J, place: Workplace, signal: AbortSignal): Promise<string[]>;
}
