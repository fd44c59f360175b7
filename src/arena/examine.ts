import { Z95 } from "#base";
import { type Player, PlayerFault } from "#engine";

/** Questions to a player, one after another, and what is done with the answers. */
export interface Examination<Question, Answer> {
  questions: Iterable<Question> | AsyncIterable<Question>;
  create(): Promise<Player>;
  ask(player: Player, question: Question): Promise<Answer>;
  /** Called for every question, in the order of the answers; a question that broke the player has no answer. */
  onAnswer(question: Question, answer: Answer | undefined, fault: PlayerFault | undefined): void;
  concurrency?: number; // players at once; by default as many as the player likes best
  signal: AbortSignal;
}

/**
 * Puts questions to players that are all the same. Each question begins with a new game, so that the answers depend
 * neither on their order nor on how many players work at once. A player that breaks down is replaced.
 */
export async function examine<Question, Answer>(exam: Examination<Question, Answer>): Promise<void> {
  const { create, ask, onAnswer, signal } = exam;
  const iterator =
    Symbol.asyncIterator in exam.questions ? exam.questions[Symbol.asyncIterator]() : exam.questions[Symbol.iterator]();
  let failed = false;

  const working = new Set<Player>();
  const make = async () => {
    const player = await create();
    working.add(player);
    return player;
  };
  const dismiss = async (player: Player) => {
    working.delete(player);
    await player.close();
  };

  const work = async (player: Player | undefined) => {
    try {
      while (!failed) {
        signal.throwIfAborted();
        const next = await iterator.next();
        if (next.done) return;
        player ??= await make();
        let answer: Answer | undefined;
        let fault: PlayerFault | undefined;
        try {
          await player.newGame({ seed: 1 });
          answer = await ask(player, next.value);
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof PlayerFault)) throw error;
          fault = error;
          await dismiss(player);
          player = undefined;
        }
        onAnswer(next.value, answer, fault);
      }
    } catch (error) {
      failed = true;
      throw error;
    } finally {
      if (player) await dismiss(player);
    }
  };
  const close = () => {
    for (const player of working) void player.close(); // also ends a search that has no limit
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    const first = await make();
    const { concurrency = first.concurrency ?? 1 } = exam;
    const workers = Array.from({ length: concurrency }, (_, i) => work(i === 0 ? first : undefined));
    const ends = await Promise.allSettled(workers);
    await iterator.return?.();
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** The 95 % interval of a share seen as `hits` of `total` (Wilson 1927), which holds also near 0 and 1. */
export function shareInterval(hits: number, total: number): { low: number; high: number } {
  if (total === 0) return { low: 0, high: 1 };
  const z2 = Z95 * Z95;
  const share = hits / total;
  const centre = share + z2 / (2 * total);
  const half = Math.sqrt(z2 * ((share * (1 - share)) / total + z2 / (4 * total * total)));
  const scale = 1 + z2 / total;
  return { low: Math.max(0, (centre - half) / scale), high: Math.min(1, (centre + half) / scale) };
}
