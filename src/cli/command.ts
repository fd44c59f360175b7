/**
 * A command is one table: its name, what it takes, examples, and a function. Parsing, help, types and the handling of
 * `--json` follow from the table.
 */
type Values = {
  string: string;
  integer: number;
  number: number;
  boolean: boolean;
  strings: string[]; // an option that may be repeated or take several values, or the rest of the arguments
};

interface Argument {
  type?: keyof Values; // default: "string"
  help: string;
  optional?: boolean;
}

interface Option {
  type?: keyof Values;
  help: string;
  short?: string; // one letter
  choices?: readonly string[];
  default?: string | number | boolean | string[];
  minimum?: number; // for numbers
}

type Of<S extends { type?: keyof Values }> = S extends { type: infer T extends keyof Values } ? Values[T] : string;
type ArgumentValues<A> = {
  [K in keyof A]: A[K] extends { optional: true } ? Of<A[K] & Argument> | undefined : Of<A[K] & Argument>;
};
type OptionValues<O> = {
  [K in keyof O]: O[K] extends { default: unknown } | { type: "boolean" }
    ? Of<O[K] & Option>
    : Of<O[K] & Option> | undefined;
};

/** What a command may use besides its values. */
export interface Io {
  /** A line for people, on stdout; silent under `--json`. */
  print(text: string): void;
  /** A line of progress or a warning, on stderr. */
  note(text: string): void;
  /** The present state of long work, on stderr: in a terminal each takes the place of the one before, elsewhere one in ten seconds is shown. */
  progress(text: string): void;
  /** One JSON line on stdout under `--json`, for commands whose result is many records. */
  emit(record: object): void;
  /** Whether `--json` was given. */
  json: boolean;
  /** The work is done and told, but its answer is bad news: the program exits 1. */
  fail(): void;
  /**
   * Aborted by Ctrl-C: long work stops at the next safe point, with its state saved, and the program exits 130. A command that
   * never asks for it is ended at once.
   */
  readonly signal: AbortSignal;
}

export interface Command {
  name: string; // words separated by a space: "pgn check"
  summary: string;
  details?: string;
  examples: readonly string[];
  arguments: Record<string, Argument>;
  options: Record<string, Option>;
  run(values: Record<string, unknown>, io: Io): Promise<object | undefined>;
}

/** Declares a command. What `run` returns is the one JSON object that `--json` prints. */
export function command<
  const A extends Record<string, Argument> = Record<never, never>,
  const O extends Record<string, Option> = Record<never, never>,
>(definition: {
  name: string;
  summary: string;
  details?: string;
  examples: readonly string[];
  arguments?: A;
  options?: O;
  // biome-ignore lint/suspicious/noConfusingVoidType: a command without a result simply does not return
  run(values: ArgumentValues<A> & OptionValues<O>, io: Io): Promise<object | void> | object | void;
}): Command {
  return {
    ...definition,
    arguments: definition.arguments ?? {},
    options: definition.options ?? {},
    run: async (values, io) => (await definition.run(values as ArgumentValues<A> & OptionValues<O>, io)) ?? undefined,
  };
}
