import type { Io } from "./command.js";

export const LOG_OPTION = {
  log: { choices: ["text", "json"], default: "text", help: "format of the log on stderr: text, or one JSON object per line" }, // biome-ignore format: a line
} as const;

/** Tells what happens: an event with its facts, and the same as a sentence. */
export type Log = (event: string, text: string, facts?: Readonly<Record<string, unknown>>) => void;

/** Lines for people, or for programs that gather logs: {"time","event","message",...}. */
export const logTo = ({ note }: Pick<Io, "note">, kind: string): Log =>
  kind === "json"
    ? (event, message, facts) => note(JSON.stringify({ time: new Date().toISOString(), event, message, ...facts }))
    : (_, message) => note(message);
