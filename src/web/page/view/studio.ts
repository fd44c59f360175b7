// The page's state, put together: one of each for all views.

import { messageOf, openBytes, readLines } from "#base";
import { COLORS } from "#chess";
import type { ShippedNet } from "#models";
import puzzleFile from "../assets/puzzles.csv?url";
import type { Inspected, Inspection } from "../minds/inspect.js";
import type { Mind, MindAsking } from "../minds/mind.js";
import { MindPool } from "../minds/pool.js";
import type { Question, Thought, Wish } from "../minds/protocol.js";
import { describeAddress, openMind } from "../minds/start.js";
import { Analysis } from "../state/analysis.js";
import { PlayedGame } from "../state/game.js";
import { type NetworkEntry, Networks, playerText, searchesOf } from "../state/networks.js";
import { formatTree, parseTree } from "../state/pgn.js";
import { Puzzles, takePuzzles } from "../state/puzzles.js";
import { Review } from "../state/review.js";
import { SavedGames } from "../state/saved.js";
import { humanColor, type NetworkSeat, type Seat, type Seats } from "../state/seats.js";
import { Settings } from "../state/settings.js";
import { endOf } from "../state/tree.js";
import { notify } from "./notice.js";

export const settings = new Settings(localStorage);
export const networks = new Networks();
export const minds = new MindPool(openMind);

/** How a seat is called in tags, strips and messages. */
export function seatName(seat: Seat): string {
  if (seat.kind === "human") return "You";
  const entry = networks.find(seat.network);
  return entry?.name ?? seat.network;
}

/** Threads a search may use: all but one, where they can share memory. */
export const THREADS = crossOriginIsolated ? Math.max(1, Math.min(8, navigator.hardwareConcurrency - 1)) : 1;
const shareOfThreads = () => Math.max(1, Math.floor(THREADS / analysis.watchers.length));

const seeds = new WeakMap<Mind, number>(); // of the game that a mind plays

async function think(seat: NetworkSeat, question: Question, wish: Wish, asking: MindAsking): Promise<Thought> {
  const entry = networks.find(seat.network);
  if (!entry) throw new Error(`The network ${seat.network} is not here any more. Choose another for this seat.`);
  // The two seats never think at once, but each keeps what it learned of its own game.
  const purpose = game.seats.white === seat ? "white" : "black";
  const mind = await minds.get(
    purpose,
    playerText(entry, seat.search, { elo: seat.elo, threads: seat.elo === undefined ? THREADS : 1 }),
  );
  if (seeds.get(mind) !== game.seed) mind.newGame(game.seed);
  seeds.set(mind, game.seed);
  return mind.choose(question, wish, asking);
}

export const game = new PlayedGame({ think, name: seatName });

/** A seat for a network, with the search it usually plays by. */
export function seatOf(id: string): NetworkSeat {
  const entry = networks.find(id);
  const search = entry ? searchesOf(entry)[0] : "ab";
  return {
    kind: "network",
    network: id,
    search,
    nodes: search === "mcts" ? 200 : undefined,
    elo: search === "ab" ? 1500 : undefined,
    moveTimeMs: 1000,
  };
}

/** Puts a network into the seat that has one, or Black's; or lets it look at the board in place of the first that does. */
export function choose(id: string, purpose: "play" | "watch"): void {
  if (purpose === "watch") {
    const entry = networks.find(id);
    const search = entry ? searchesOf(entry)[0] : "";
    if (analysis.watchers.length === 0) analysis.add(id, search);
    else analysis.replace(0, id, search);
    return;
  }
  game.sit(game.seats.black.kind === "human" && game.seats.white.kind === "network" ? "white" : "black", seatOf(id));
}

/** Reads what is in the box; the page works without it, against random moves. */
export async function loadShipped(): Promise<void> {
  const response = await fetch("nets/manifest.json").catch(() => undefined);
  const nets: ShippedNet[] = response?.ok ? await response.json() : [];
  networks.addShipped(nets, (file) => new URL(`nets/${file}`, document.baseURI).href);
}

/** The tags of the game as it would be saved. */
export function pgnTags(): Map<string, string> {
  const tags = new Map(game.tags);
  if (!tags.has("White")) {
    const date = new Date().toISOString().slice(0, 10).replaceAll("-", ".");
    for (const [name, value] of [
      ["Event", "Tabiya"],
      ["Date", date],
      ["White", seatName(game.seats.white)],
      ["Black", seatName(game.seats.black)],
    ])
      tags.set(name, value);
  }
  tags.set("Result", game.ending?.result ?? "*");
  return tags;
}

export const analysis = new Analysis(async (place, { network, search }, question, wish, asking) => {
  const entry = networks.find(network);
  if (!entry) throw new Error(`The network ${network} is not here any more.`);
  const mind = await minds.get(`watcher ${place}`, playerText(entry, search, { threads: shareOfThreads() }));
  return mind.choose(question, wish, asking);
});

/** Switches the analysis on or off; the network of the box watches if none was chosen. */
export function watch(isOn: boolean): void {
  if (isOn && analysis.watchers.length === 0) {
    const [first] = networks.all;
    analysis.add(first.id, searchesOf(first)[0]);
  }
  if (isOn && !analysis.isOn) otherTabs?.postMessage("analysis");
  analysis.switch(isOn);
}

// One analysis at a time across tabs: the one begun last goes on.
const otherTabs = "BroadcastChannel" in globalThis ? new BroadcastChannel("tabiya") : undefined;
otherTabs?.addEventListener("message", () => {
  if (!analysis.isOn) return;
  analysis.switch(false);
  notify("Another tab analyses now; this one has stopped.");
});

let slept = false; // a game between networks, as the tab was hidden

/** In a tab that nobody sees, nothing is analysed and networks do not play each other; what was begun goes on after it. */
export function sleep(isHidden: boolean): void {
  if (!isHidden) {
    analysis.restart();
    if (slept) game.pause(false);
    slept = false;
    return;
  }
  analysis.rest();
  const isWatched = game.seats.white.kind === "network" && game.seats.black.kind === "network";
  if (!isWatched || game.paused || game.ending) return;
  game.pause(true);
  slept = true;
}

export const saved = new SavedGames(localStorage);

const LAST = "tabiya-game";
let keptId = "";
let kept = 0; // the event after which the game was last kept

/** Keeps the game after every move: a reload goes on with it, and a finished one stands in the list. */
game.subscribe(({ tree, ending, seats, event, tags }) => {
  if (event.count === kept) return;
  kept = event.count;
  if (event.kind === "start") keptId = crypto.randomUUID();
  if (tree.root.children.length === 0) return;
  const pgn = formatTree(tree, pgnTags(), ending?.result ?? "*");
  try {
    localStorage.setItem(LAST, JSON.stringify({ pgn, seats }));
  } catch {
    // Without room the game is only lost by a reload; a finished one says so.
  }
  if (!ending || event.kind !== "end" || tags.has("White")) return; // a game that came as PGN is somewhere already
  try {
    saved.save({
      id: keptId,
      white: seatName(seats.white),
      black: seatName(seats.black),
      result: ending.result,
      plies: endOf(tree.root).ply,
      date: new Date().toISOString(),
      pgn,
    });
  } catch (error) {
    notify(messageOf(error), "bad");
  }
});

/** Goes on with the game that was left; false if there is none. */
export function restore(): boolean {
  try {
    const { pgn, seats } = JSON.parse(localStorage.getItem(LAST) ?? "{}") as { pgn?: string; seats?: Seats };
    if (pgn === undefined || !seats) return false;
    const read = parseTree(pgn);
    if (read.result !== "*") return false;
    read.tree.go(endOf(read.tree.root));
    game.load({ ...read, tags: new Map() });
    game.flip(humanColor(seats) ?? "white");
    for (const color of COLORS) if (isHere(seats[color])) game.sit(color, seats[color]);
    return true;
  } catch {
    return false; // damaged: a new game begins
  }
}

const isHere = (seat: Seat): boolean => seat.kind === "network" && networks.find(seat.network) !== undefined;

export const puzzles = new Puzzles(localStorage);

/** The puzzles of the box, unless others were dropped. */
export async function loadPuzzles(): Promise<void> {
  if (puzzles.all.length > 0) return;
  puzzles.load(await takePuzzles(readLines(await openBytes(puzzleFile), "puzzles.csv"), "puzzles.csv"), "built in");
}

export const review = new Review();

/** Lets a network review the game on the board. */
export async function reviewGame(id: string, nodes: number): Promise<void> {
  const entry = networks.find(id);
  if (!entry) return;
  const [search] = searchesOf(entry);
  await review.run(game, entry.name, nodes, async (question, wish, asking) => {
    const mind = await minds.get("review", playerText(entry, search));
    return mind.choose(question, wish, asking);
  });
  minds.close("review");
}

/** Looks inside the network of a watcher at the position on the board. */
export async function inspect(place: number, inspection: Inspection): Promise<Inspected> {
  const watcher = analysis.watchers[place];
  const entry = watcher && networks.find(watcher.network);
  if (!entry || entry.family === "random") return {};
  const mind = await minds.get(`watcher ${place}`, playerText(entry, watcher.search, { threads: shareOfThreads() }));
  return mind.inspect(game.questionAt(game.tree.current), inspection);
}

/** Reads a network once, to see whether it is one and what it is; throws in words if not, and forgets it then. */
export async function describe(entry: NetworkEntry): Promise<void> {
  try {
    networks.note(entry.id, await describeAddress(entry.address));
  } catch (error) {
    networks.remove(entry.id);
    throw error;
  }
}
