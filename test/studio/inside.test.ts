// Looking inside networks on the built page: what each family shows, four of them at once, a game reviewed.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "vitest";
import { Random } from "#base";
import { DECODER_SIZES, Decoder, MOE_SIZES, Moe, networkBytes, RESIDUAL_SIZES, Residual } from "#models";
import { browserPath, click, moves, NNUE_NAME, type Studio, shoot, type, useStudio, waitForPlies } from "./studio.js";

let studio: Studio;
useStudio((opened) => {
  studio = opened;
});

const check = test.skipIf(!browserPath);
const file = (name: string, bytes: Uint8Array) => ({
  name,
  mimeType: "application/octet-stream",
  buffer: Buffer.from(bytes),
});

check("the worth of each piece stands on the board, and a piece picked up shows it on every square", async () => {
  const page = await studio.visit("inside");
  await page.getByRole("button", { name: "Worth of the pieces" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".cg-custom-svgs text").length === 30);
  await click(page, "g1");
  await page.waitForFunction(() => document.querySelectorAll(".cg-custom-below rect").length >= 25);
  await shoot(page, "inside-heat");
  await page.context().close();
});

check(
  "a moe and a residual network from files show policy, certainty, attention and experts beside the nnue",
  async () => {
    const page = await studio.visit("networks");
    const moe = networkBytes("moe", new Moe(MOE_SIZES.tiny, new Random(1)));
    const residual = networkBytes("residual", new Residual(RESIDUAL_SIZES.tiny, new Random(2)));
    const input = page.getByLabel("Open a network file");
    await input.setInputFiles([file("mix.safetensors", moe), file("conv.safetensors", residual)]);
    await page.getByText("conv.safetensors is here").waitFor();
    await page.getByRole("link", { name: "Look inside" }).click();
    for (const [place, name] of [
      [2, "mix.safetensors"],
      [3, "conv.safetensors"],
      [4, NNUE_NAME],
    ] as const) {
      // biome-ignore format: one line
      await page.getByRole("button", { name: "Add a network" }).click();
      await page.getByRole("combobox", { name: `Network ${place}`, exact: true }).selectOption(name);
    }
    await page.getByText("Dissent").waitFor();
    await page.getByRole("group", { name: "Network to look into" }).getByRole("button", { name: "mix" }).click();
    await page.getByRole("region", { name: "How sure it is" }).waitFor();
    await page.getByRole("button", { name: "Attention" }).click();
    await page.waitForFunction(() => document.querySelectorAll(".cg-custom-below rect").length === 64);
    await shoot(page, "inside-attention");
    await page.getByRole("button", { name: "Experts" }).click();
    await page.getByText("the expert each square is sent to").waitFor();
    await page.getByRole("group", { name: "Network to look into" }).getByRole("button", { name: "conv" }).click();
    const table = page.getByRole("region", { name: "Moves it weighs" });
    await table.getByRole("columnheader", { name: "Visits" }).waitFor();
    await shoot(page, "inside-four");
    await page.context().close();
    assert.deepEqual(studio.problems, []);
  },
);

check("a reviewed game has its blunder marked, and the better move named", async () => {
  const page = await studio.visit("play?moves=e2e4.e7e5.d1h5.e8e7.h5e5");
  await page.getByText("checkmate").first().waitFor();
  await page.getByRole("link", { name: "Look inside" }).click();
  await page.getByLabel("Nodes a position").selectOption("2000");
  await page.getByRole("button", { name: "Review", exact: true }).click();
  await page.getByRole("button", { name: /2… Ke7 blunder/ }).waitFor();
  await shoot(page, "inside-review");
  await page.context().close();
  assert.deepEqual(studio.problems, []);
});

check("the thoughts of a decoder are a tree, and replay on the board", async () => {
  const page = await studio.visit("networks");
  const decoder = networkBytes("decoder", new Decoder(DECODER_SIZES.tiny, new Random(1)));
  await page.getByLabel("Open a network file").setInputFiles([file("thinker.safetensors", decoder)]);
  await page.getByText("thinker.safetensors is here").waitFor();
  await page.getByRole("link", { name: "Look inside" }).click();
  await page.getByRole("combobox", { name: "Network 1", exact: true }).selectOption("thinker.safetensors");
  const thoughts = page.getByRole("region", { name: "Thoughts" });
  await thoughts.getByRole("button", { name: "Replay" }).click();
  await thoughts.locator("[aria-pressed=true]").first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll("cg-board square.last-move").length === 2);
  await shoot(page, "inside-thoughts");
  await page.context().close();
  assert.deepEqual(studio.problems, []);
});

const MAIA = "../shared/data/nets/maia-1100.pb.gz";
test.skipIf(!browserPath || !existsSync(MAIA))("a dropped maia network answers a move", async () => {
  const page = await studio.visit("networks");
  await page.getByLabel("Open a network file").setInputFiles([file("maia-1100.pb.gz", readFileSync(MAIA))]);
  await page.getByText("maia-1100.pb.gz is here").waitFor();
  const card = page.getByRole("article", { name: "maia-1100.pb.gz" });
  await card.getByRole("button", { name: "Play against it" }).click();
  await page.getByLabel("Black's search").selectOption("none");
  await type(page, "e4");
  await waitForPlies(page, 2);
  assert.ok(["e5", "c5", "e6", "d5", "c6"].includes((await moves(page))[1]), "as people answer");
  await page.context().close();
});
