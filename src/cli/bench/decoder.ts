import { Random } from "#base";
import { parseFen, START_FEN } from "#chess";
import { BOARD_TOKENS, encodeBoard68, tokenId } from "#encodings";
import { DECODER, DECODER_SIZES, type Decoder, DecoderReader, NO_SLOT, POSITION_TOKENS, prefixMask } from "#models";
import { constant, exportOnnx, input, Session } from "#tensor";
import { command } from "../command.js";

const CONTEXT = 500; // tokens
const MOVE = tokenId("e2e4");

/** Milliseconds of the quickest of as many runs as there is time for. */
async function quickest(run: () => Promise<unknown>, seconds: number): Promise<number> {
  await run();
  let best = Number.POSITIVE_INFINITY;
  const end = performance.now() + seconds * 1000;
  do {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  } while (performance.now() < end);
  return best;
}

/** Reads a token behind CONTEXT others, both passes and all heads, with caches and by reading everything again. */
async function benchReading(seconds: number, threads: number) {
  const decoder = DECODER.build(DECODER_SIZES.small, new Random(1));
  const board = new Uint16Array(BOARD_TOKENS);
  encodeBoard68(parseFen(START_FEN), board);
  const reader = await DecoderReader.open(decoder, { threads });
  const whole = await Session.open(exportOnnx(readAll(decoder)), { threads });
  try {
    while (reader.length + POSITION_TOKENS < CONTEXT) {
      await reader.board(board);
      for (let i = 0; i < POSITION_TOKENS - BOARD_TOKENS; i++) await reader.token(MOVE);
    }
    while (reader.length < CONTEXT) await reader.token(MOVE);
    const after = async (read: () => Promise<unknown>) => {
      await read();
      await reader.truncate(CONTEXT);
    };
    const token = await quickest(() => after(() => reader.token(MOVE)), seconds / 3);
    const block = await quickest(() => after(() => reader.board(board)), seconds / 3);
    const feeds = {
      tokens: new Int32Array(CONTEXT).fill(MOVE),
      values: new Float32Array(CONTEXT),
      blocks: Int32Array.from({ length: CONTEXT }, (_, i) => i),
    };
    const again = await quickest(() => whole.run(feeds), seconds / 3);
    const rate = (ms: number, tokens = 1) => Math.round((tokens * 1000 * 10) / ms) / 10;
    return {
      context: CONTEXT,
      tokensPerSecond: { cached: rate(token), cachedBoards: rate(block, BOARD_TOKENS), uncached: rate(again) },
      ratio: Math.round((again / token) * 10) / 10,
    };
  } finally {
    await reader.close();
    await whole.close();
  }
}

/** Both passes over CONTEXT tokens, and what the heads say at the last. */
function readAll(network: Decoder) {
  const x = network.embed({
    tokens: input("tokens", [1, CONTEXT], "int32"),
    values: input("values", [1, CONTEXT]),
    slots: constant(new Int32Array(CONTEXT).fill(NO_SLOT), [CONTEXT, 1], "int32"),
  });
  const causal = network.read(x, "causal").slice(0, CONTEXT - 1);
  const prefix = network.read(x, prefixMask(input("blocks", [1, CONTEXT], "int32"))).slice(0, CONTEXT - 1);
  return {
    board: network.board.apply(causal),
    policy: network.movesAt(prefix, undefined, "policy"),
    thinking: network.movesAt(prefix, undefined, "thinking"),
    winLoss: network.expectedWinLoss(network.winLoss.apply(prefix)),
    draw: network.expectedDraw(network.draw.apply(prefix)),
  };
}

export default command({
  name: "bench decoder",
  summary: "Time how fast a decoder reads tokens, with its caches and without.",
  details: "A decoder of size small with random weights reads one more token after 500 others.",
  examples: ["tabiya bench decoder", "tabiya bench decoder --threads 1 --json"],
  options: {
    seconds: { type: "number", default: 3, minimum: 0.01, help: "time to measure for" },
    threads: { type: "integer", default: 0, minimum: 0, help: "threads of the network; 0: one per core" },
  },
  async run({ seconds, threads }, { print }) {
    const reading = await benchReading(seconds, threads);
    const { cached, cachedBoards, uncached } = reading.tokensPerSecond;
    print(
      `decoder (small, random weights) after ${reading.context} tokens: ${cached} tokens/s with caches ` +
        `(${cachedBoards} for whole boards), ${uncached} without: ${reading.ratio} times as fast`,
    );
    return reading;
  },
});
