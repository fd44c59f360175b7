import { removeFile } from "#base";
import { resolvePlayer } from "#engine";
import { createRecords, openRecords } from "#formats";
import { BOARDS } from "#models";
import type { Limits } from "#search";
import { Batches, openRecordSource, type PolicyValueBatch, parseSource, planeRows } from "#training";
import { RecordStore } from "./contest/record-store.js";
import { runContest } from "./contest/run.js";
import { importGames } from "./import.js";
import { labelPositions } from "./label.js";
import { validationPath } from "./split.js";

interface Common {
  validation?: number; // share of the games that is kept apart to judge by; default: none
  seed?: number; // decides which games those are, and what else is left to chance
  signal?: AbortSignal;
}

/** Which games and positions become records, and what values them. */
export interface PgnOptions extends Common {
  engine?: string; // a player that values every position, as uci:stockfish; by default the evaluations in the games do
  limits?: Limits; // how long it may think about each
  value?: "eval" | "result"; // without an engine: what values a position
  player?: string; // only the moves of this player
  minRating?: number; // of both players
  timeClasses?: readonly ("bullet" | "blitz" | "rapid" | "classical")[];
  minPlies?: number;
  maxPositions?: number;
  onNoEvals?(games: number): void; // told once, early, if the first games have no evaluation and it is needed
}

/** How many games a player plays against itself, and how. */
export interface SelfPlayOptions extends Common {
  games: number;
  randomPlies?: number; // at the start of each game, so that no two are alike; default: 8
  limits?: Pick<Limits, "nodes" | "depth" | "moveTimeMs">; // for each move
}

/** Positions to learn from: files, not memory, so that there may be any number of them. */
export class Dataset {
  private constructor(
    readonly paths: readonly string[],
    readonly length: number, // positions
    readonly validation: Dataset | undefined, // of other games
    readonly troubles: readonly string[] = [], // broken games and unvalued positions that were left out
  ) {}

  /** Opens files of records, as games.bin?weight=2; those of other games as `validation`. */
  static async load(paths: string | readonly string[], validation?: string | readonly string[]): Promise<Dataset> {
    const list = typeof paths === "string" ? [paths] : paths;
    let length = 0;
    for (const each of list) {
      const source = await openRecordSource(parseSource(each).path);
      length += source.count;
      await source.close();
    }
    return new Dataset(list, length, validation === undefined ? undefined : await Dataset.load(validation));
  }

  /** Makes a file of records (.bin, .jsonl, ...) from games. */
  static async fromPgn(games: string | readonly string[], to: string, options: PgnOptions = {}): Promise<Dataset> {
    const { engine, limits = { depth: 15 }, value = engine ? "result" : "eval", validation = 0, seed = 1 } = options;
    const { signal = new AbortController().signal, player, minRating, timeClasses, minPlies, maxPositions } = options;
    const troubles: string[] = [];
    const imported = engine === undefined ? to : to.replace(/(\.\w+)?$/, ".games.bin");
    await importGames(typeof games === "string" ? [games] : games, imported, {
      games: { variants: ["standard", "from-position"], player, minRating, timeClasses, minPlies },
      positions: { value, policy: "played", needsEvalAfter: false, fromPly: 0 },
      validation,
      seed,
      dedupe: false,
      maxPositions,
      threads: 1,
      signal,
      onBad: ({ message }) => troubles.push(message),
      onNoEvals: options.onNoEvals,
      onProgress() {},
    });
    const parts = validation > 0 ? [to, validationPath(to)] : [to];
    if (engine !== undefined) {
      const sources = validation > 0 ? [imported, validationPath(imported)] : [imported];
      for (const [i, from] of sources.entries()) {
        await labelPositions(from, parts[i], {
          create: () => resolvePlayer(engine),
          engine,
          limits,
          allMoves: false,
          processes: 1,
          signal,
          onProgress() {},
          onTrouble: (message) => troubles.push(message),
        });
        await removeFile(from);
      }
    }
    const { paths, length, validation: judged } = await Dataset.load(parts[0], parts[1]);
    return new Dataset(paths, length, judged, troubles);
  }

  /** Lets a player play itself, and makes a file of records of its moves, its scores and the results. */
  static async fromSelfPlay(player: string, to: string, options: SelfPlayOptions): Promise<Dataset> {
    const { games, randomPlies = 8, limits = {}, validation = 0, seed = 1, signal } = options;
    const store = await RecordStore.create(to, { validation, seed });
    try {
      await runContest(
        {
          kind: "games",
          players: [player],
          games,
          openings: { randomPlies },
          limits,
          marginMs: 1_000,
          adjudication: { maxMoves: 300 },
          seed,
        },
        { store, signal },
      );
      await store.commit();
    } catch (error) {
      await store.abort();
      throw error;
    }
    return Dataset.load(store.paths[0], store.paths[1]);
  }

  /** Writes all of its records to one file, of any format that can hold them. */
  async save(path: string): Promise<void> {
    const writer = await createRecords(path);
    try {
      for (const source of this.paths)
        for await (const records of await openRecords(parseSource(source).path)) await writer.write(records);
      await writer.commit();
    } catch (error) {
      await writer.abort();
      throw error;
    }
  }

  /** The batches of an epoch, shuffled anew for each, as a network that learns moves and values sees them. */
  async *batches(options: {
    size?: number; // default: 32
    epoch?: number; // from 0
    seed?: number;
    board?: keyof typeof BOARDS; // default: planes18
    resultShare?: number; // of the game's result in the value
  }): AsyncGenerator<PolicyValueBatch> {
    const { size = 32, epoch = 0, seed = 1, board = "planes18", resultShare = 0 } = options;
    const format = planeRows({ planes: board, moves: BOARDS[board].moves, scoreScale: 400, resultShare });
    const batches = await Batches.open({ sources: this.paths, format, seed });
    try {
      yield* batches.batches({ size, epoch });
    } finally {
      await batches.close();
    }
  }
}
