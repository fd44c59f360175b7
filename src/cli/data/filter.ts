import { UserError } from "#base";
import { BULLET_FILTER, filterRecords, type MoveKind, parseChoices, type Range, type RecordFilter } from "#data";
import { BadRecords } from "../bad-records.js";
import { command } from "../command.js";
import { ProgressBar, stopwatch } from "../progress.js";

const RESULTS = { win: [1], draw: [0], loss: [-1], decisive: [1, -1] } as const;
const WHETHER = ["no", "only"] as const;
/** Options that speak of a record's move, and what they speak of. */
const MOVE_OPTIONS: Record<"captures" | "promotions" | "castling", MoveKind> = {
  captures: "capture",
  promotions: "promotion",
  castling: "castling",
};

/** `-600,600`, `16,` or `,32`. */
function parseRange(option: string, text: string): Range {
  const parts = text.split(",").map((part) => part.trim());
  const bounds = parts.map((part) => (part === "" ? undefined : Number(part)));
  const [from, to] = bounds;
  const isBad = bounds.some(Number.isNaN) || parts.length !== 2 || (from ?? -Infinity) > (to ?? Infinity);
  if (!isBad && (from !== undefined || to !== undefined)) return { from, to };
  throw new UserError(
    "OPTION_VALUE",
    `--${option} ${text}: expected FROM,TO, of which one may be left out, as --${option}=16,100 or --${option}=16,`,
  );
}

export default command({
  name: "data filter",
  summary: "Keep the records you want to train on: by score, ply, check, kind of move, pieces, result.",
  details:
    "Works on every kind of record file, of any size, and keeps order and bytes. Ranges are FROM,TO, both included; one side may be\n" +
    "left out. Everything is for the side to move. Records without a move are not left out because of it. Write --score=-600,600 with\n" +
    "an equals sign: a value that begins with a minus looks like an option.\n" +
    "--bullet is the filter of bullet's examples: --ply 16, --score=-10000,10000 --check no --captures no --promotions no --castling no;\n" +
    "options given besides override it.",
  examples: [
    "tabiya data filter train.binpack -o quiet.binpack --bullet",
    "tabiya data filter train.bin -o endgames.bin --pieces ,10 --score=-600,600",
    "tabiya data filter train.bin -o wins.bin --result win,loss --ply 20,200 --check no --json",
  ],
  arguments: { file: { help: "file of records" } },
  options: {
    out: { short: "o", help: "file to write, of the same kind" },
    bullet: { type: "boolean", help: "the filter of bullet's examples" },
    score: { help: "centipawns FROM,TO" },
    ply: { help: "plies FROM,TO" },
    pieces: { help: "pieces on the board FROM,TO, kings counted" },
    result: { help: `some of ${Object.keys(RESULTS).join(", ")}` },
    check: { choices: WHETHER, help: "positions in which the side to move is in check" },
    captures: { choices: WHETHER, help: "positions whose move captures (promotions not counted)" },
    promotions: { choices: WHETHER, help: "positions whose move promotes a pawn" },
    castling: { choices: WHETHER, help: "positions whose move castles" },
  },

  async run(values, io) {
    const { file, out } = values;
    if (out === undefined) throw new UserError("OPTION_MISSING", "Say where to write: -o FILE");
    const filter = filterOf(values);
    if (Object.keys(filter).length === 0)
      throw new UserError("OPTION_MISSING", "Say what to keep, as --bullet or --ply 16, (tabiya data filter --help).");
    const seconds = stopwatch();
    const bar = new ProgressBar(io, "records");
    const bad = new BadRecords(io);
    const { records, kept, left } = await filterRecords(file, out, filter, {
      signal: io.signal,
      onBad: bad.add,
      onProgress: ({ done, total, records: read }) => bar.show(read, done, total),
    });
    bad.report();
    const took = seconds();
    const share = ((100 * kept) / records).toFixed(1);
    io.print(`${out}: ${kept} of ${records} records kept (${share} %), in ${took.toFixed(1)} s`);
    for (const [reason, count] of Object.entries(left).sort(([, a], [, b]) => b - a))
      io.print(`  ${String(count).padStart(10)} left out: ${reason}`);
    return { records, written: kept, left, seconds: took };
  },
});

type Whether = string | undefined;
interface FilterValues {
  bullet: boolean;
  score: string | undefined;
  ply: string | undefined;
  pieces: string | undefined;
  result: string | undefined;
  check: Whether;
  captures: Whether;
  promotions: Whether;
  castling: Whether;
}

function filterOf(values: FilterValues): RecordFilter {
  const filter: RecordFilter = values.bullet ? { ...BULLET_FILTER } : {};
  for (const name of ["score", "ply", "pieces"] as const) {
    const text = values[name];
    if (text !== undefined) filter[name] = parseRange(name, text);
  }
  if (values.result !== undefined) {
    const names = parseChoices("result", values.result, Object.keys(RESULTS) as (keyof typeof RESULTS)[]);
    filter.results = names.flatMap((name) => [...RESULTS[name]]);
  }
  if (values.check !== undefined) filter.inCheck = values.check === "only";
  const wanted = chooseMoves(values);
  if (wanted) filter.moves = wanted;
  return filter;
}

/** The kinds of moves that are kept: those asked for alone, else all but those refused; undefined if nothing was said. */
function chooseMoves(values: FilterValues): MoveKind[] | undefined {
  const options = Object.entries(MOVE_OPTIONS) as [keyof typeof MOVE_OPTIONS, MoveKind][];
  const kinds = (answer: string) => options.filter(([name]) => values[name] === answer).map(([, kind]) => kind);
  const [only, no] = [kinds("only"), kinds("no")];
  if (only.length > 0) return only;
  if (no.length === 0) return undefined;
  return (["quiet", ...Object.values(MOVE_OPTIONS)] as MoveKind[]).filter((kind) => !no.includes(kind));
}
