// Who may speak to the server. A page of another site must not: it could name our address by a host name of its own (DNS
// rebinding), or send requests whose answers it cannot read.
import { timingSafeEqual } from "node:crypto";
import { UserError } from "#base";

export interface Door {
  addresses: readonly string[]; // that requests may be sent to, without the port
  port: number;
  token: string;
}

const wrap = (address: string) => (address.includes(":") ? `[${address}]` : address);

/** Throws unless the request was sent to us by our own name, and comes from our own page or from no page at all. */
export function checkSender(request: Request, { addresses, port }: Door): void {
  const hosts = [...addresses.map(wrap), "localhost"].flatMap((name) => [
    `${name}:${port}`,
    ...(port === 80 ? [name] : []),
  ]);
  const host = (request.headers.get("host") ?? "").toLowerCase();
  if (!hosts.includes(host) && host !== "localhost")
    throw new UserError("HOST_WRONG", `This server answers to ${hosts[0]}, not to "${host.slice(0, 80)}".`);
  const origin = request.headers.get("origin");
  if (origin !== null && !hosts.some((name) => origin.toLowerCase() === `http://${name}`))
    throw new UserError("ORIGIN_FOREIGN", "This server answers to its own page only.");
}

/** Throws unless the request has the token, as a header or (for streams, which cannot send one) as ?token=. */
export function checkToken(request: Request, { token }: Door): void {
  const given =
    /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ??
    new URL(request.url).searchParams.get("token") ??
    "";
  const [a, b] = [given, token].map((text) => Buffer.from(text));
  if (a.length !== b.length || !timingSafeEqual(a, b))
    throw new UserError("TOKEN_MISSING", "Open the studio by the address that its terminal shows: it holds the token.");
}

const HEADERS = {
  // Memory shared between threads needs a page that nobody else can look into.
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy":
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval' blob:; worker-src 'self' blob:; style-src 'self' 'unsafe-inline'; " +
    "img-src 'self' data: blob:; connect-src 'self' blob: data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

/** Puts on every answer what a page needs to be isolated. */
export function addHeaders(headers: Headers): void {
  for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
}
