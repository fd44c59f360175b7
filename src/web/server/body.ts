import type * as z from "zod";
import { concatBytes, parsePlain, UserError } from "#base";

const LARGEST = 1 << 18; // bytes; a form is far smaller

/** The chunks of a body, as long as they are no more than `limit` bytes. */
export async function* chunksOf(request: Request, limit: number): AsyncGenerator<Uint8Array> {
  const tooLarge = () => new UserError("BODY_LARGE", `The request holds more than the ${limit} bytes allowed here.`);
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge();
  let bytes = 0;
  const reader = request.body?.getReader();
  try {
    for (;;) {
      const next = await reader?.read().catch((error: unknown) => {
        throw new UserError("BODY_ABORTED", "The request ended in the middle of its body.", { cause: error });
      });
      const { value, done } = next ?? { done: true, value: undefined };
      if (done) return;
      bytes += value.length;
      if (bytes > limit) throw tooLarge();
      yield value;
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
}

/** A request's JSON, checked. */
export async function readJson<T>(request: Request, schema: z.ZodType<T>): Promise<T> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(request, LARGEST)) chunks.push(chunk);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(concatBytes(chunks)));
  } catch {
    throw new UserError("BODY_SYNTAX", "The request is not JSON.");
  }
  return parsePlain(schema, value, "request");
}
