import { readBytes, UserError, workInSlots } from "#base";
import { loadBook, type PlayGames, type SelfPlayGame } from "#data";
import { kindOf } from "../jobs/job.js";
import type { SelfPlayJob } from "../jobs/selfplay.js";
import type { Transport } from "../transports/transport.js";
import { cut, gameSeconds } from "./cut.js";

/** Self-play as jobs: games are cut into jobs, as many under way as the transport has room for. */
export const playByJobs =
  (transport: Transport): PlayGames =>
  async (spec, games, onGame, signal) => {
    const { files } = transport;
    const { file, plies } = spec.openings;
    if (file !== undefined) await loadBook(file, plies); // what is wrong with it is said of its own name
    const book = file === undefined ? undefined : await files.put(await readBytes(file), ".book", () => readBytes(file)); // biome-ignore format: a list
    const own = { ...spec, player: await files.player(spec.player), openings: { ...spec.openings, file: book } };
    const jobOf = (numbers: number[]): SelfPlayJob => ({ kind: "selfplay", spec: own, games: numbers });
    const crowd = kindOf(jobOf([0])).crowd(jobOf([0]));
    const size = transport.itemsPerJob(crowd * gameSeconds([spec.player], { nodes: spec.nodes }));
    await workInSlots(cut(games, size), { slots: transport.slots(crowd), signal }, async (numbers, stop) => {
      const lines = await transport.run(jobOf(numbers), numbers.length, stop);
      for (const [i, line] of lines.entries()) {
        const game = JSON.parse(line) as SelfPlayGame;
        if (game.game !== numbers[i])
          throw new UserError("JOB_RESULT", `a job for game ${numbers[i]} came back with ${game.game}.`);
        await onGame(game);
      }
    });
  };
