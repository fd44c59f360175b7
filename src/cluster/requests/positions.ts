import type { AskElsewhere } from "#data";
import type { Limits } from "#search";
import type { LabelJob, VariationsJob } from "../jobs/positions.js";
import type { Transport } from "../transports/transport.js";
import { moveSeconds } from "./cut.js";

/** What is asked: values of positions or of all their moves, or their best lines. */
type Asked = Pick<LabelJob, "kind" | "allMoves"> | Pick<VariationsJob, "kind" | "multiPv">;

/** Lets jobs answer for the positions of labels and variations; `onTrouble` is told which were given up. */
export async function askByJobs(
  transport: Transport,
  player: string,
  limits: Limits,
  asked: Asked,
  onTrouble: (message: string) => void,
): Promise<AskElsewhere> {
  const { files } = transport;
  const name = await files.player(player);
  const { nodes, depth, moveTimeMs, deadlineMs } = limits;
  return {
    batch: transport.itemsPerJob(moveSeconds(player, limits)),
    batches: transport.slots(1),
    async ask(fens, signal) {
      const positions = await files.putLines(fens);
      const job = { ...asked, player: name, limits: { nodes, depth, moveTimeMs, deadlineMs }, positions };
      try {
        const lines = await transport.run(job as LabelJob | VariationsJob, fens.length, signal);
        return lines.map((line, i) => {
          const { fault, ...answer } = JSON.parse(line) as { fault?: string };
          if (fault !== undefined) onTrouble(`${fault} (given up: ${fens[i]})`);
          return fault === undefined ? answer : undefined;
        });
      } finally {
        await files.drop(positions);
      }
    },
  };
}
