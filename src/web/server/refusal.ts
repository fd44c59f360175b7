import { UserError } from "#base";
import type { ErrorBody } from "../protocol/answers.js";

/** The HTTP status of errors; those that are not here are the request's fault: 400. */
const STATUS: Record<string, number> = {
  TOKEN_MISSING: 401,
  HOST_WRONG: 403,
  ORIGIN_FOREIGN: 403,
  ROUTE_UNKNOWN: 404,
  ID_UNKNOWN: 404,
  FILE_MISSING: 404,
  METHOD_WRONG: 405,
  NAME_TAKEN: 409,
  ALREADY_RUNNING: 409,
  NOT_RUNNING: 409,
  BODY_LARGE: 413,
  DISK_FULL: 507,
};

/** An error as the answer to a request. What is our own mistake is told to `log`, not to the other side. */
export function refusal(error: unknown, log: (text: string) => void): Response {
  if (error instanceof UserError) return refuse(error.code, error.message);
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return refuse("INTERNAL", "Something went wrong in the server; its terminal says more.", 500);
}

export function refuse(code: string, message: string, status = STATUS[code] ?? 400): Response {
  const body: ErrorBody = { error: { code, message } };
  return Response.json(body, { status });
}
