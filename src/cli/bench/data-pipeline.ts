// The second half of `bench data`: from games to records, and from records to batches, over worker threads.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Random } from "#base";
import { formatSan, parseFen, START_FEN } from "#chess";
import { importGames } from "#data";
import { type BatchSource, resolveRecipe, taskOf, trainable } from "#training";

const GAMES = 400; // different ones
const TIMES = 60; // each is there
const PLIES = 80;
const SIZE = 1024; // positions of a batch
const BATCHES = 100; // of each family, as its training is given them

/** PGN of random games; as they are all there many times, some two million positions. */
function writeGames(path: string): void {
  const random = new Random(1);
  let text = "";
  for (let game = 0; game < GAMES; game++) {
    const position = parseFen(START_FEN);
    const words: string[] = [];
    while (words.length < PLIES && !position.outcome()) {
      const move = random.pick(position.moves());
      words.push(`${position.turn === "white" ? `${position.fullmoves}. ` : ""}${formatSan(position, move)}`);
      position.play(move);
    }
    text += `[Event "x"]\n[WhiteElo "2500"]\n[BlackElo "2500"]\n[Result "1-0"]\n\n${words.join(" ")} 1-0\n\n`;
  }
  writeFileSync(path, text.repeat(TIMES));
}

export interface Pipeline {
  measures: Record<string, () => Promise<number>>;
  close(): Promise<void>;
}

/** Importing `games`, or random ones, to .bin with filters; then batches of what came out, as each family is trained on them. */
export async function preparePipeline(
  folder: string,
  games: readonly string[] | undefined,
  threads: number,
): Promise<Pipeline> {
  const random = join(folder, "games.pgn");
  const out = join(folder, "games.bin");
  if (!games) writeGames(random);
  const { signal } = new AbortController();
  const importAll = async () => {
    const { positions } = await importGames(games ?? [random], out, {
      games: { variants: ["standard"], minRating: 2400, minPlies: 20 },
      positions: { value: "result", policy: "played", needsEvalAfter: false, fromPly: 0 },
      validation: 0.05,
      seed: 1,
      dedupe: false,
      threads,
      signal,
      onBad() {},
      onProgress() {},
    });
    return positions;
  };
  await importAll();
  const opened: BatchSource[] = [];
  const measures: Pipeline["measures"] = { [`pgn to bin, ${threads} threads`]: importAll };
  for (const { family } of trainable()) {
    const batches = await taskOf(family).open([out], resolveRecipe({ family }, family));
    opened.push(batches);
    let epoch = 0;
    measures[`${family} batches`] = async () => {
      let done = 0;
      for await (const _ of batches.batches({ size: SIZE, epoch: epoch++ })) if (++done === BATCHES) break;
      return done * SIZE;
    };
  }
  return {
    measures,
    async close() {
      for (const batches of opened) await batches.close();
    },
  };
}
