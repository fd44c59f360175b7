import { Argument, Command as Commander, CommanderError, InvalidArgumentError, Option } from "commander";
import { assert, messageOf, suggestion, UserError } from "#base";
import type { Command, Io } from "./command.js";

/** Where the program writes, so that a test needs no process. */
export interface Output {
  stdout(text: string): void;
  stderr(text: string): void;
  /** How many characters a line of the terminal behind stderr has; undefined if there is none. */
  columns?: () => number | undefined;
}

const PROGRESS_MS = 10_000; // between two lines of progress where they cannot replace each other

/** Lines on stderr, the last of which may be progress that is written over. */
function liveLines({ stderr, columns }: Output) {
  let shown = false;
  let last = 0;
  const clear = () => {
    if (shown) stderr("\r\x1b[K");
    shown = false;
  };
  return {
    note(text: string) {
      clear();
      stderr(`${text}\n`);
    },
    progress(text: string) {
      const width = columns?.();
      if (width !== undefined) {
        clear();
        stderr(text.slice(0, width - 1));
        shown = true;
      } else if (performance.now() - last >= PROGRESS_MS || last === 0) {
        last = performance.now();
        stderr(`${text}\n`);
      }
    },
    clear,
  };
}

/** A text without the ends of its lines in the source: the terminal's width decides where they end. */
const flowing = (text: string) => text.replace(/\n/g, " ");

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function parseNumber(type: string, minimum: number | undefined) {
  return (text: string): number => {
    const value = Number(text.replace(/_/g, ""));
    if (text.trim() === "" || !Number.isFinite(value) || (type === "integer" && !Number.isInteger(value))) {
      throw new InvalidArgumentError(`expected ${type === "integer" ? "a whole number" : "a number"}.`);
    }
    if (minimum !== undefined && value < minimum) throw new InvalidArgumentError(`expected at least ${minimum}.`);
    return value;
  };
}

function addArguments(target: Commander, command: Command): void {
  for (const [name, { type = "string", help, optional }] of Object.entries(command.arguments)) {
    const word = kebab(name) + (type === "strings" ? "..." : "");
    const argument = new Argument(optional ? `[${word}]` : `<${word}>`, help);
    if (type === "integer" || type === "number") argument.argParser(parseNumber(type, undefined));
    target.addArgument(argument);
  }
}

function addOptions(target: Commander, command: Command): void {
  for (const [name, { type = "string", help, short, choices, default: preset, minimum }] of Object.entries(
    command.options,
  )) {
    const value = { boolean: "", strings: " <value...>", string: " <value>", integer: " <n>", number: " <x>" }[type];
    const option = new Option(`${short ? `-${short}, ` : ""}--${kebab(name)}${value}`, help);
    if (choices) option.choices(choices);
    if (preset !== undefined) option.default(preset, Array.isArray(preset) ? preset.join(" ") || "none" : undefined);
    if (type === "boolean" && preset === undefined && !option.negate) option.default(false, "off");
    if (type === "integer" || type === "number") option.argParser(parseNumber(type, minimum));
    target.addOption(option);
  }
}

/** What went wrong, as the message a person reads, and the exit code. */
async function explain(error: unknown): Promise<{ text: string; code: number }> {
  if (error instanceof UserError) {
    const [, file = ""] = /^(\S[^\n]*?)(?::|, line) /.exec(error.message) ?? [];
    // Loaded only now: it brings the core along.
    const surprise =
      error.code === "FILE_WRONG" || file === "" ? "" : await (await import("#formats")).describeSurprise(file);
    return { text: [error.message, surprise].filter(Boolean).join("\n"), code: 1 };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    text: `This is a bug in tabiya, not a mistake of yours.\n${stack}\nPlease report it with the command you ran.`,
    code: 2,
  };
}

/**
 * Runs one command line and returns the exit code: 0, 1 for the user's mistake (one clear message) or a bad answer, 2 for
 * our mistake, 130 after Ctrl-C. `onListen` is called when a command begins to watch the signal.
 */
export async function runProgram(
  commands: readonly Command[],
  argv: readonly string[],
  output: Output,
  options: { version: string; signal?: AbortSignal; onListen?: () => void },
): Promise<number> {
  const signal = options.signal ?? new AbortController().signal;
  const json = argv.includes("--json");
  const lines = liveLines(output);
  let exitCode = 0;

  const configure = (target: Commander) =>
    target
      .exitOverride()
      .showSuggestionAfterError(true)
      .configureHelp({ showGlobalOptions: false })
      .configureOutput({ writeOut: output.stdout, writeErr: output.stderr, outputError: (text, write) => write(text) });

  const root = configure(new Commander("tabiya"))
    .description("From a file of games to a network that plays.")
    .version(options.version, "--version")
    .addHelpText("after", "\nEvery command explains itself: tabiya COMMAND --help");

  const childrenOf = (group: string) =>
    commands.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name.slice(group.length + 1)] : []));
  const groups = new Map<string, Commander>();
  for (const command of commands) {
    const words = command.name.split(" ");
    let parent = root;
    if (words.length === 2) {
      parent = groups.get(words[0]) ?? configure(root.command(words[0]).description(childrenOf(words[0]).join(", ")));
      groups.set(words[0], parent);
    }
    assert(words.length <= 2, `command name ${command.name}`);
    const target = configure(parent.command(words[words.length - 1]))
      .summary(command.summary)
      .description(command.details ? `${command.summary}\n\n${flowing(command.details)}` : command.summary)
      .addHelpText("after", `\nExamples:\n${command.examples.map((line) => `  ${line}`).join("\n")}`);
    addArguments(target, command);
    addOptions(target, command);
    target.option("--json", "print one JSON object (or JSON lines) on stdout and nothing else there");
    target.action(async (...parsed: unknown[]) => {
      const names = Object.keys(command.arguments);
      const values: Record<string, unknown> = { ...(parsed[names.length] as object) };
      names.forEach((name, i) => {
        values[name] = parsed[i];
      });
      // `--no-open` is a flag of its own for us; to the parser it is `open` turned off.
      for (const name of Object.keys(command.options))
        if (/^no[A-Z]/.test(name)) values[name] = values[name[2].toLowerCase() + name.slice(3)] === false;
      const io: Io = {
        json,
        get signal() {
          options.onListen?.();
          return signal;
        },
        fail: () => {
          exitCode = 1;
        },
        progress: lines.progress,
        print: (text) => {
          lines.clear();
          if (!json) output.stdout(`${text}\n`);
        },
        note: lines.note,
        emit: (record) => json && output.stdout(`${JSON.stringify(record)}\n`),
      };
      const result = await command.run(values, io).finally(lines.clear);
      if (json && result) output.stdout(`${JSON.stringify(result)}\n`);
    });
  }

  for (const [name, group] of groups) {
    group.action(() => {
      const [, word] = argv.filter((arg) => !arg.startsWith("-"));
      const known = childrenOf(name);
      throw new UserError(
        "COMMAND_UNKNOWN",
        word === undefined
          ? `tabiya ${name} needs one of: ${known.join(", ")}.\nSee: tabiya ${name} --help`
          : `tabiya ${name} has no command "${word}".${suggestion(word, known)}\nIt has: ${known.join(", ")}.`,
      );
    });
    group.allowExcessArguments().allowUnknownOption();
  }

  try {
    // `--json` may stand anywhere, also before the command.
    const rest = argv.filter((arg) => arg !== "--json");
    const wantsCommand = rest.some((arg) => !arg.startsWith("-"));
    if (rest.length === 0) root.outputHelp();
    else await root.parseAsync(json && wantsCommand ? [...rest, "--json"] : rest, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) exitCode = error.exitCode === 0 ? 0 : 1;
    else if (signal.aborted) {
      if (!isAbort(error)) output.stderr(`${messageOf(error)}\n`);
    } else {
      const { text, code } = await explain(error);
      output.stderr(`${text}\n`);
      exitCode = code;
    }
  }
  return signal.aborted ? 130 : exitCode;
}

const isAbort = (error: unknown) => error instanceof Error && error.name === "AbortError";
