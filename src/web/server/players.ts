import { findProgram } from "#base";
import { quickSearchOf } from "#engine";
import { shippedNets } from "#models";
import type { PlayerChoice } from "../protocol/answers.js";
import type { Runs } from "./runs.js";

const ENGINES = ["stockfish", "glaurung", "fruit", "toga2", "phalanx", "gnuchess", "lc0"]; // looked for on this machine

/** Who may play in a contest: what a form offers. Any other player that tabiya understands can be typed. */
export class Players {
  private engines: Promise<PlayerChoice[]> | undefined;

  constructor(private readonly runs: Runs) {}

  async list(): Promise<PlayerChoice[]> {
    const nets = await shippedNets();
    const shipped = nets.map(({ family, summary }) => ({
      text: `${family}@${quickSearchOf(family)}`,
      about: summary,
    }));
    const trained = (await this.runs.trained()).map(({ path, family, state }) => ({
      text: `${path}@${quickSearchOf(family)}`,
      about: `${family} of a run here (${state})`,
    }));
    this.engines ??= this.findEngines();
    return [...shipped, ...trained, { text: "random", about: "any legal move" }, ...(await this.engines)];
  }

  private async findEngines(): Promise<PlayerChoice[]> {
    const paths = await Promise.all(ENGINES.map(findProgram));
    return ENGINES.filter((_, i) => paths[i] !== undefined).map((name) => ({
      text: `uci:${name}`,
      about: "an engine on this machine",
    }));
  }
}
