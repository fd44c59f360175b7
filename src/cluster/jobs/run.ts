import { UserError } from "#base";
import { formatResult, type Job, kindOf } from "./job.js";
import type { Workplace } from "./kind.js";
import { engineOf, namedFile, nameFile, renameNetwork } from "./names.js";

/** What a machine has for jobs. */
export interface Equipment {
  folder: string; // of files by their hashes
  threads: number; // for each network to compute with; 0: one per core
  engines?: Readonly<Record<string, string>>; // commands by the names that jobs have for them; none: as they are written
}

/** Does a job that was checked, whose files are in the folder; the bytes are its result. */
export async function runJob(id: string, job: Job, equipment: Equipment, signal: AbortSignal): Promise<Uint8Array> {
  return formatResult(id, await kindOf(job).run(job, workplace(equipment), signal));
}

function workplace({ folder, threads, engines }: Equipment): Workplace {
  const path = (name: string) => {
    const file = namedFile(name);
    return file ? `${folder}/${file.hash}${file.ending}` : name;
  };
  return {
    path,
    threads,
    player(text) {
      const named = namedFile(text);
      if (named) return renameNetwork(text, path(nameFile(named)));
      const engine = engineOf(text);
      if (engine === undefined || !engines) return text;
      if (!Object.hasOwn(engines, engine))
        throw new UserError("ENGINE_MISSING", `the engine "${engine}" is not on this machine.`);
      return `uci:${engines[engine]}${text.slice(`uci:${engine}`.length)}`;
    },
  };
}
