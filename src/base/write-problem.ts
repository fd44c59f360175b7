import { UserError } from "./errors.js";

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full: its quota is used up",
  EFBIG: "the disk is full: files may not grow that large there",
};

/** Whether there is no room left, by what the operating system says. */
export const isFull = (error: unknown): boolean => ((error as { code?: string }).code ?? "") in REASONS;

/** Why a write failed, in words; undefined if it is not for the operating system to say. */
export function writeProblem(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  if (error instanceof UserError || typeof code !== "string") return undefined;
  return REASONS[code] ?? `could not be written (${code})`;
}
