import { once } from "node:events";
import { createServer } from "node:http";
import { messageOf, UserError } from "#base";
import { formatMetrics, type Metric } from "#cluster";

export const METRICS_HELP = "[HOST:]PORT for Prometheus, at /metrics; HOST is 127.0.0.1 by default";

/** Serves numbers for Prometheus while the work is done. */
export async function withMetrics<T>(
  address: string | undefined,
  read: () => Promise<Metric[]> | Metric[],
  note: (text: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  if (address === undefined) return work();
  const [, host = "127.0.0.1", port = ""] = /^(?:(.+):)?(\d{1,5})$/.exec(address) ?? [];
  if (port === "" || Number(port) > 65_535)
    throw new UserError("METRICS_ADDRESS", `"${address}" is no address for metrics; expected ${METRICS_HELP}.`);
  const server = createServer(async ({ method, url = "" }, answer) => {
    const isKnown = url.split("?")[0] === "/metrics";
    if (!isKnown || (method !== "GET" && method !== "HEAD")) {
      answer.writeHead(isKnown ? 405 : 404, { "content-type": "text/plain" }).end("see /metrics\n");
      return;
    }
    try {
      const text = formatMetrics(await read());
      answer.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
    } catch (error) {
      answer.writeHead(503, { "content-type": "text/plain" }).end(`${messageOf(error)}\n`);
    }
  });
  const failed = once(server, "error").then(([error]) => {
    throw new UserError("METRICS_PORT", `${host}:${port}: cannot serve metrics (${messageOf(error)}). Choose another port.`); // biome-ignore format: a sentence
  });
  failed.catch(() => {});
  server.listen(Number(port), host.replace(/^\[|\]$/g, ""));
  await Promise.race([once(server, "listening"), failed]);
  const at = server.address();
  note(`metrics at http://${host}:${typeof at === "object" && at ? at.port : port}/metrics`);
  try {
    return await work();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
