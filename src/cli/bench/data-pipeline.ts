// The second half of `bench data`: from games to records, and from records to batches, over worker threads.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Random } from "#base";
import { formatSan, parseFen, START_FEN } from "#chess";
import { importGames } from "#data";
import { type BatchEncoding, Batches } from "#training";

const GAMES = 400; // different ones
const TIMES = 60; // each is there
const PLIES = 80;
const SIZE = 1024; // positions of a batch

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

const ENCODINGS: Record<string, BatchEncoding> = {
  "halfkp batches": { kind: "halfkp" },
  "planes13 batches": { kind: "policy-value", planes: "planes13", moves: "moves4288", scoreScale: 400, resultShare: 0 },
  "planes18 batches": { kind: "policy-value", planes: "planes18", moves: "moves4672", scoreScale: 400, resultShare: 0 },
  "action batches": { kind: "actions", queries: 1, buckets: 128 },
};

export interface Pipeline {
  measures: Record<string, () => Promise<number>>;
  close(): Promise<void>;
}

/** Importing `games`, or random ones, to .bin with filters; then shuffled batches of what came out. */
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
  const opened: Batches[] = [];
  const measures: Pipeline["measures"] = { [`pgn to bin, ${threads} threads`]: importAll };
  for (const [name, encoding] of Object.entries(ENCODINGS)) {
    const batches = await Batches.open({ sources: [out], encoding, seed: 1, workers: threads });
    opened.push(batches);
    let epoch = 0;
    measures[`${name}, ${threads} threads`] = async () => {
      let done = 0;
      const most = encoding.kind === "policy-value" ? 100 : 500;
      for await (const _ of batches.batches({ size: SIZE, epoch: epoch++ })) if (++done === most) break;
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
