import { type GameRecord, type OpeningBook, playGame } from "#arena";
import { mixSeed, processors, Random, UserError } from "#base";
import { valueOfScore } from "#chess";
import { openEvaluator, type Player, parsePlayer, resolvePlayer } from "#engine";
import { type Evaluator, findOption, MCTS_OPTIONS, type MctsSettings, parseOptionValues } from "#search";
import { loadBook } from "../book.js";
import { gameOf, judgeAdjudication, type SearchedPosition, type SelfPlayGame } from "./game.js";
import { drawOpening } from "./openings.js";
import type { SelfPlaySpec } from "./spec.js";
import { TreePlayer } from "./tree-player.js";

/** Plays games against itself. Each follows from the spec and its number alone, whatever else is played at the same time. */
export interface SelfPlayer {
  /** As many games at once are played fastest. */
  readonly concurrency: number;
  readonly kind: "tree" | "alphabeta"; // whether there are policies to learn from
  play(game: number, signal: AbortSignal): Promise<SelfPlayGame>;
  close(): Promise<void>;
}

/** What plays a game, and what it has found out about positions when the game is over. */
interface Seat {
  player: Player;
  searched(record: GameRecord): SearchedPosition[];
  leave(): Promise<void>;
}

/** Many trees grow over one evaluator, whose batches they fill together. */
const TREES_PER_BATCH = 2;

/**
 * Opens the network and the book of a spec. The network computes with so many threads (0: one per core); with another number
 * of them its answers may differ in the last digit, and so may games.
 */
export async function openSelfPlayer(spec: SelfPlaySpec, { threads = 1 } = {}): Promise<SelfPlayer> {
  const { file, plies } = spec.openings;
  const book = file === undefined ? undefined : await loadBook(file, plies);
  return selfPlayKind(spec) === "alphabeta" ? openAlphaBeta(spec, book, threads) : openTrees(spec, book, threads);
}

/** How a spec's player thinks, known before it is opened. */
export const selfPlayKind = ({ player }: SelfPlaySpec): SelfPlayer["kind"] =>
  searchOf(player) === "ab" ? "alphabeta" : "tree";

/** What searches for a player: self-play needs one whose thoughts can be learnt from. */
function searchOf(text: string): "mcts" | "ab" {
  const player = parsePlayer(text);
  if (player.kind === "network") {
    const usual = /^(nnue|builtin)$|\.(nnue|jnn|tnn)$/i.test(player.network) ? "ab" : "mcts";
    const search = player.search ?? (player.network === "random" ? "none" : usual);
    if (search === "mcts" || search === "ab") return search;
  }
  throw new UserError(
    "SELFPLAY_PLAYER",
    `player "${text}": self-play is for networks with a search, whose thoughts can be learnt from: NET@mcts or NET@ab.`,
  );
}

async function openTrees(spec: SelfPlaySpec, book: OpeningBook | undefined, threads: number): Promise<SelfPlayer> {
  const text = parsePlayer(spec.player);
  if (text.kind !== "network") throw new Error("internal: a foreign engine has no tree");
  const settings = settingsOf(spec.player, text.options);
  const evaluator: Evaluator = await openEvaluator(text.network, { threads, steady: true });
  const sit = (random: Random): Seat => {
    const player = new TreePlayer(evaluator, settings, spec, random);
    return { player, searched: () => player.searched, leave: () => player.close() };
  };
  return {
    concurrency: TREES_PER_BATCH * evaluator.batchSize,
    kind: "tree",
    play: (game, signal) => playOne(spec, book, game, signal, sit),
    close: () => evaluator.close(),
  };
}

async function openAlphaBeta(spec: SelfPlaySpec, book: OpeningBook | undefined, threads: number): Promise<SelfPlayer> {
  const idle: Player[] = [await resolvePlayer(spec.player)];
  const searched = ({ moves }: GameRecord) =>
    moves.flatMap(({ thought }, ply) =>
      thought ? [{ ply, value: valueOfScore(thought.lines[0]?.scoreCp ?? 0) }] : [],
    );
  return {
    concurrency: threads || processors(),
    kind: "alphabeta",
    async play(game, signal) {
      const player = idle.pop() ?? (await resolvePlayer(spec.player));
      const leave = async () => {
        idle.push(player);
      };
      return playOne(spec, book, game, signal, () => ({ player, searched, leave }));
    },
    close: async () => {
      for (const player of idle) await player.close();
    },
  };
}

/** Self-play of a tree differs from its games: it explores, and nothing may depend on what else the evaluator answers. */
const EXPLORING: Partial<MctsSettings> = { policyTemperature: 1, smartPruning: 0, outOfOrder: false, pipeline: 1, batch: 8, treeMb: 64 }; // biome-ignore format: a list
const BY_ROOT: Record<MctsSettings["root"], Partial<MctsSettings>> = {
  gumbel: { root: "gumbel", gumbelNoise: 1 },
  puct: { root: "puct", cpuct: 1.2, cpuctFactor: 0, fpu: 0, noise: 0.25, temperature: 1, temperatureMoves: 15 },
};

function settingsOf(text: string, options: ReadonlyMap<string, string>): MctsSettings {
  const given = parseOptionValues(`player "${text}"`, MCTS_OPTIONS, options);
  const names = [...options.keys()].map((name) => findOption(MCTS_OPTIONS, name) as keyof MctsSettings);
  const root = names.includes("root") ? given.root : "gumbel";
  const chosen = Object.fromEntries(names.map((name) => [name, given[name]]));
  return { ...given, ...EXPLORING, ...BY_ROOT[root], ...chosen };
}

async function playOne(
  spec: SelfPlaySpec,
  book: OpeningBook | undefined,
  game: number,
  signal: AbortSignal,
  sit: (random: Random) => Seat,
): Promise<SelfPlayGame> {
  const { nodes, seed } = spec;
  const { playOn, maxMoves, ...rules } = spec.adjudication;
  const random = new Random(mixSeed(seed, game));
  const opening = drawOpening(spec.openings, book, random);
  const isPlayedOn = Object.keys(rules).length > 0 && random.next() < playOn;
  const { player, searched, leave } = sit(random);
  const conditions = {
    limits: { nodes },
    marginMs: 0,
    adjudication: isPlayedOn ? { maxMoves } : { ...rules, maxMoves },
  };
  const options = { seed: mixSeed(seed, game, 1), signal };
  const record = await playGame({ white: player, black: player }, opening, conditions, options).finally(leave);
  if (record.fault) throw new Error(`self-play, game ${game}: ${record.fault.message}`);
  const played = gameOf(game, record, searched(record), maxMoves);
  return isPlayedOn ? { ...played, adjudication: judgeAdjudication(played, rules) } : played;
}
