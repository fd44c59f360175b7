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

/** Does something with what stands at a place, as "games.txt, line 3", which messages for the user then begin with. */
export function atPlace<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(error.code, `${place}: ${error.message}`, { cause: error });
  }
}

/** Our own mistake if it fails: not for anything a user can cause. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`internal: ${message}`);
}

/** The message of anything thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
