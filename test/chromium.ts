import { findProgram } from "#base";

/** The browser the system has, or undefined: then browser tests say that they were skipped. */
export const browserPath: string | undefined = (await findProgram("chromium")) ?? (await findProgram("google-chrome"));

/** How it is started: without asking the network for anything of its own. */
export const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
