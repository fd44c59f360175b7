// Every family chooses the same moves in the page's worker as in Node, with the same nodes and seed.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { Random } from "#base";
import { formatUci, parseFen } from "#chess";
import { resolvePlayer } from "#engine";
import { DECODER_SIZES, Decoder, MOE_SIZES, Moe, networkBytes, RESIDUAL_SIZES, Residual } from "#models";
import { browserPath, Studio } from "./studio.js";

const FENS = [
  "r1bq1rk1/pp2ppbp/5np1/n2p4/3P1B1P/1QN1PN2/PP3PP1/R3KB1R w KQ - 3 10",
  "8/5pk1/4p1p1/3pP2p/1r1P3P/1P3KP1/R7/8 b - - 0 40",
];
const random = () => new Random(5);
const PLAYERS = {
  "nnue@ab": undefined, // the network of the box
  "residual@mcts": networkBytes("residual", new Residual(RESIDUAL_SIZES.tiny, random())),
  "residual@none": networkBytes("residual", new Residual(RESIDUAL_SIZES.tiny, random())),
  "moe@none": networkBytes("moe", new Moe(MOE_SIZES.tiny, random())),
  "decoder@think": networkBytes("decoder", new Decoder(DECODER_SIZES.tiny, random())),
} as const;
const NODES = 24;

let studio: Studio;
let folder: string;
beforeAll(async () => {
  if (!browserPath) return;
  folder = mkdtempSync(join(tmpdir(), "tabiya-same-"));
  studio = await Studio.open();
});
afterAll(async () => {
  await studio?.close();
  if (folder) rmSync(folder, { recursive: true });
});

for (const [name, bytes] of Object.entries(PLAYERS)) {
  test.skipIf(!browserPath)(`${name} plays the same in the page as in Node`, async () => {
    const [network, search] = name.split("@");
    const path = join(folder, `${network}.safetensors`);
    if (bytes) writeFileSync(path, bytes);
    const player = await resolvePlayer(bytes ? `${path}@${search}` : name);
    const inNode: string[] = [];
    for (const fen of FENS) {
      const position = parseFen(fen);
      inNode.push(formatUci(position, (await player.choose(position, { nodes: NODES })).move));
    }
    await player.close();

    const page = await studio.visit("networks");
    const inPage = await page.evaluate(
      async ({ data, text, fens, nodes }) => {
        const address = data ? `${URL.createObjectURL(new Blob([new Uint8Array(data)]))}#x.safetensors` : undefined;
        const worker = new Worker(new URL("web/page/minds/mind-worker.js", document.baseURI), { type: "module" });
        const found: string[] = [];
        await new Promise<void>((resolve, reject) => {
          worker.onmessage = ({ data: heard }) => {
            const ask = (id: number) =>
              worker.postMessage({
                type: "choose",
                id,
                question: { fen: fens[id], chess960: false, moves: [] },
                wish: { nodes },
              });
            if (heard.type === "ready")
              worker.postMessage({ type: "open", player: address ? `${address}@${text.split("@")[1]}` : text });
            else if (heard.type === "opened") ask(0);
            else if (heard.type === "chosen") {
              found.push(heard.thought.move);
              if (found.length === fens.length) resolve();
              else ask(found.length);
            } else if (heard.message) reject(new Error(heard.message));
          };
        });
        worker.terminate();
        return found;
      },
      { data: bytes && Array.from(bytes), text: name, fens: FENS, nodes: NODES },
    );
    await page.context().close();
    assert.deepEqual(inPage, inNode);
  });
}
