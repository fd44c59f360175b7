import { UserError } from "#base";
import { formatFen, formatUci, type Move, mateScore, type Position, parseUci } from "#chess";
import type { Asking, Limits, Option, OptionTable } from "#search";
import { type Choice, type Line, type Player, PlayerFault, type Report } from "./player.js";
import { UciClient, type UciTimes } from "./uci-client.js";
import type { UciOption } from "./uci-options.js";

/** Reads what is worth keeping of `info depth 12 ... score cp 31 ... pv e2e4 e7e5`. */
export function parseInfo(line: string): Line & { nodes?: number; hashFull?: number } {
  const number = (pattern: RegExp) => {
    const found = pattern.exec(line);
    return found ? Number(found[1]) : undefined;
  };
  const mate = number(/ score mate (-?\d+)/);
  const wdl = / wdl (\d+) (\d+) (\d+)/.exec(line);
  return {
    scoreCp: mate === undefined ? number(/ score cp (-?\d+)/) : mateScore(mate),
    mate,
    wdl: wdl ? [Number(wdl[1]), Number(wdl[2]), Number(wdl[3])] : undefined,
    depth: number(/ depth (\d+)/),
    selDepth: number(/ seldepth (\d+)/),
    nodes: number(/ nodes (\d+)/),
    hashFull: number(/ hashfull (\d+)/),
    pv: / pv (.+)$/.exec(line)?.[1].trim().split(/\s+/) ?? [],
  };
}

/** What the last lines of each rank say together. */
function reportOf(infos: readonly string[], timeMs: number): Report {
  const parsed = infos.filter((line) => line !== undefined).map(parseInfo);
  const [{ depth, nodes, hashFull } = {}] = parsed;
  return { lines: parsed.map(({ nodes: _, hashFull: __, ...line }) => line), depth, nodes, hashFull, timeMs };
}

/** An option as the engine declares it, in our words. */
function tableOption({ name, type, default: value = "", min, max, choices }: UciOption): Option {
  const help = `${name} of the engine`;
  if (type === "check") return { type: "check", default: value === "true", help };
  if (type === "spin")
    return { type: "integer", default: Number(value), min: min ?? -Infinity, max: max ?? Infinity, help };
  return type === "combo" ? { type: "choice", default: value, choices, help } : { type: "text", default: value, help };
}

/** A foreign engine, as written `uci:COMMAND?Option=Value&...`. */
export class UciPlayer implements Player {
  onFault?: (fault: PlayerFault) => void;
  private start = ""; // of the game the engine was last told about
  private played: Move[] = [];
  private text = ""; // the same game as UCI wants it

  private constructor(
    readonly name: string,
    readonly client: UciClient,
  ) {
    client.onFault = (fault) => this.onFault?.(new PlayerFault(fault.kind, `${this.name} ${fault.message}`));
  }

  static async create(
    name: string,
    { program, args, options }: { program: string; args: readonly string[]; options: ReadonlyMap<string, string> },
    times?: Partial<UciTimes>,
  ): Promise<UciPlayer> {
    const client = await UciClient.start(program, args, times);
    try {
      client.trySetOption("Ponder", "false");
      for (const [option, value] of options) client.setOption(option, value);
      await client.ready();
    } catch (error) {
      await client.close();
      throw error instanceof PlayerFault ? new UserError("ENGINE_START", `${name} ${error.message}`) : error;
    }
    return new UciPlayer(name, client);
  }

  async newGame(): Promise<void> {
    this.start = "";
    await this.blame(this.client.newGame());
  }

  async choose(
    position: Position,
    limits: Limits,
    { signal, ponderHit, onReport }: Asking<Report> = {},
  ): Promise<Choice> {
    const { client } = this;
    const start = performance.now();
    if (position.chess960 && !client.options.has("uci_chess960")) {
      throw new UserError("ENGINE_CHESS960", `${this.name} does not play Chess960 (it has no option UCI_Chess960).`);
    }
    client.trySetOption("UCI_Chess960", String(position.chess960));
    if (limits.multiPv !== undefined && limits.multiPv > 1 && !client.options.has("multipv")) {
      throw new UserError("ENGINE_MULTIPV", `${this.name} cannot value several moves (it has no option MultiPV).`);
    }
    if (limits.multiPv !== undefined) client.trySetOption("MultiPV", String(limits.multiPv));

    const go = client.go(this.describe(position), limits, {
      signal,
      ponderHit,
      moves: limits.moves?.map((move) => formatUci(position, move)),
      onInfos: onReport && ((infos) => onReport(reportOf(infos, performance.now() - start))),
    });
    const answer = await this.blame(go);
    const move = parseUci(position, answer.bestMove);
    if (move === undefined) {
      throw new PlayerFault("illegal move", `${this.name} answered "${answer.bestMove}" in ${formatFen(position)}.`);
    }
    return { ...reportOf(answer.infos, answer.timeMs), move };
  }

  get options(): OptionTable {
    const known = [...this.client.options.values()];
    return Object.fromEntries(
      known.flatMap((option) => (option.type === "button" ? [] : [[option.name, tableOption(option)]])),
    );
  }

  async setOption(name: string, value: string): Promise<void> {
    this.client.setOption(name, value);
    await this.blame(this.client.ready());
  }

  async close(): Promise<void> {
    await this.client.close();
  }

  /** `fen ... moves ...`; only the moves since the last call are put into words anew. */
  private describe(position: Position): string {
    const { history } = position;
    if (this.played.length > history.length || this.played.some((move, i) => move !== history[i])) this.start = "";
    if (this.start === "" || history.length === 0) {
      const root = position.clone();
      while (root.undo() !== undefined);
      const start = formatFen(root);
      if (start !== this.start) {
        this.start = start;
        this.played = [];
        this.text = `fen ${start}`;
      }
    }
    for (const move of history.slice(this.played.length)) {
      this.text += `${this.played.length === 0 ? " moves" : ""} ${formatUci(position, move)}`;
      this.played.push(move);
    }
    return this.text;
  }

  private async blame<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw error instanceof PlayerFault ? new PlayerFault(error.kind, `${this.name} ${error.message}`) : error;
    }
  }
}
