import { UserError, workInSlots } from "#base";
import type { PlayGames, SelfPlayGame } from "#data";
import { parsePlayer, readNetworkFile } from "#engine";
import { BARE_NETWORKS, namedNetwork, nameNetwork, renameNetwork } from "./jobs/job.js";
import { sha256 } from "./stores/hash.js";
import type { FileStore } from "./stores/store.js";
import type { Transport } from "./transports/transport.js";

/** Self-play as jobs: games are cut into jobs, as many under way as the transport has room for. */
export const playByJobs =
  (transport: Transport): PlayGames =>
  async (spec, games, onGame, signal) => {
    const { store, capacity, gamesPerJob } = transport;
    const { network } = networkOf(spec.player);
    const player = BARE_NETWORKS.includes(network) ? spec.player : await send(spec.player, network, store);
    await workInSlots(cut(games, gamesPerJob), { slots: capacity, signal }, async (numbers, stop) => {
      const job = { kind: "selfplay", spec: { ...spec, player }, games: numbers } as const;
      for (const game of parseResult(await transport.run(job, stop), numbers)) await onGame(game);
    });
  };

/** Puts the network of a player into the store, and names it by its hash. */
async function send(player: string, network: string, store: FileStore): Promise<string> {
  const { bytes, path } = await readNetworkFile(network);
  const name = (hash: string) => renameNetwork(player, nameNetwork(hash, path));
  const ending = namedNetwork(name(await sha256(bytes)))?.ending;
  return name(await store.put(bytes, ending));
}

function networkOf(player: string) {
  const spec = parsePlayer(player);
  if (spec.kind === "network") return spec;
  throw new UserError(
    "SELFPLAY_PLAYER",
    `player "${player}": self-play is for networks with a search: NET@mcts or NET@ab.`,
  );
}

function* cut(games: Iterable<number>, size: number): Generator<number[]> {
  let held: number[] = [];
  for (const game of games) {
    held.push(game);
    if (held.length < size) continue;
    yield held;
    held = [];
  }
  if (held.length > 0) yield held;
}

/** The games of a job's result, which must be those that were asked for. */
function parseResult(bytes: Uint8Array, wanted: readonly number[]): SelfPlayGame[] {
  const lines = new TextDecoder().decode(bytes).split("\n").filter(Boolean);
  const games = lines.map((line) => JSON.parse(line) as SelfPlayGame);
  if (games.map(({ game }) => game).join() !== wanted.join())
    throw new UserError("JOB_RESULT", `a job for the games ${wanted.join(", ")} came back with others.`);
  return games;
}
