/**
 * Trouble the user can mend: a file, a flag, a line of text. The message says where, what was found, what was
 * expected and what to do; `code` is stable, so that programs and tests need not read the message.
 */
export class UserError extends Error {
  override readonly name = "UserError";

  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Our own mistake if it fails: not for anything a user can cause. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`internal: ${message}`);
}

/** The message of anything thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
