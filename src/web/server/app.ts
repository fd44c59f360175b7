// The server's routes. They only translate: requests into calls, results and errors into JSON.
import { basename } from "node:path";
import { Hono } from "hono";
import { parsePlain, UserError } from "#base";
import type { Health } from "../protocol/answers.js";
import { START_CONTEST, START_RUN, UPLOAD_NAME } from "../protocol/requests.js";
import { chunksOf, readJson } from "./body.js";
import type { Cluster } from "./cluster.js";
import type { Contests } from "./contests.js";
import { type DataFiles, LARGEST_UPLOAD } from "./data-files.js";
import { addHeaders, checkSender, checkToken, type Door } from "./guard.js";
import type { EventHub } from "./hub.js";
import type { Players } from "./players.js";
import { refusal } from "./refusal.js";
import type { Runs } from "./runs.js";
import { type StaticFiles, sendFile } from "./static-files.js";

export interface Parts {
  door: Door;
  version: string;
  files: StaticFiles;
  hub: EventHub;
  runs: Runs;
  contests: Contests;
  cluster: Cluster;
  data: DataFiles;
  players: Players;
  log(text: string): void;
}

/** A whole number in an address; undefined if it is not given. */
function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw new UserError("NUMBER_WRONG", `"${text.slice(0, 40)}" is not a whole number.`);
}

export function buildApp({ door, version, files, hub, runs, contests, cluster, data, players, log }: Parts): Hono {
  const app = new Hono();
  app.onError((error) => refusal(error, log));
  app.notFound(async ({ req }) => {
    if (req.path.startsWith("/api/") || req.path === "/api")
      return refusal(new UserError("ROUTE_UNKNOWN", "The server has nothing at this address."), log);
    if (req.method !== "GET" && req.method !== "HEAD")
      return refusal(new UserError("METHOD_WRONG", "Files of the page can be read, nothing else."), log);
    const found = await files.answer(req.path);
    if (found) return found;
    const missing = req.path === "/" ? "The page is not built. Run: npm run build:page" : "There is no such file.";
    return refusal(new UserError("ROUTE_UNKNOWN", missing), log);
  });
  app.use(async (context, next) => {
    const { raw, path } = context.req;
    try {
      checkSender(raw, door);
      if (/^\/api(\/|$)/.test(path) && path !== "/api/health") checkToken(raw, door);
      await next();
    } catch (error) {
      context.res = refusal(error, log);
    }
    addHeaders(context.res.headers);
    if (path.startsWith("/api/")) context.res.headers.set("Cache-Control", "no-store");
  });

  app.get("/api/health", (c) => c.json({ name: "tabiya", version, hasCluster: cluster.isThere } satisfies Health));
  app.get("/api/events", (c) => {
    const body = hub.open(c.req.header("last-event-id"));
    return new Response(body, { headers: { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" } });
  });

  app.get("/api/cluster", async (c) => c.json(await cluster.detail()));

  app.get("/api/data", async (c) => c.json({ files: await data.list() }));
  app.get("/api/data/:id/info", async (c) => c.json(await data.info(c.req.param("id"))));
  app.put("/api/data/:name", async (c) => {
    const name = parsePlain(UPLOAD_NAME, c.req.param("name"), "the file's name");
    return c.json(await data.upload(name, chunksOf(c.req.raw, LARGEST_UPLOAD)), 201);
  });
  app.get("/api/players", async (c) => c.json({ players: await players.list() }));

  app.get("/api/recipes", async (c) => c.json(await runs.recipes()));
  app.get("/api/runs", async (c) => c.json({ runs: await runs.list() }));
  app.post("/api/runs", async (c) => c.json(await runs.start(await readJson(c.req.raw, START_RUN)), 201));
  app.get("/api/runs/:id", async (c) => c.json(await runs.detail(c.req.param("id"))));
  app.get("/api/runs/:id/metrics", async (c) =>
    c.json(await runs.metrics(c.req.param("id"), numberOf(c.req.query("from")))),
  );
  app.get("/api/runs/:id/log", async (c) => c.json({ text: await runs.log(c.req.param("id")) }));
  app.post("/api/runs/:id/stop", async (c) => c.json(await runs.stop(c.req.param("id"))));
  app.post("/api/runs/:id/resume", async (c) => c.json(await runs.resume(c.req.param("id"))));
  app.get("/api/runs/:id/checkpoints/:name/network", async (c) =>
    sendFile(await runs.weights(c.req.param("id"), c.req.param("name"))),
  );
  app.get("/api/runs/:id/checkpoints/:name/mistakes", async (c) =>
    c.json(await runs.mistakes(c.req.param("id"), c.req.param("name"))),
  );

  app.get("/api/contests", async (c) => c.json({ contests: await contests.list() }));
  app.post("/api/contests", async (c) => c.json(await contests.start(await readJson(c.req.raw, START_CONTEST)), 201));
  app.get("/api/contests/:id", async (c) => c.json(await contests.detail(c.req.param("id"))));
  app.post("/api/contests/:id/stop", async (c) => c.json(await contests.stop(c.req.param("id"))));
  app.post("/api/contests/:id/resume", async (c) => c.json(await contests.resume(c.req.param("id"))));
  app.get("/api/contests/:id/games", async (c) =>
    c.json(await contests.games(c.req.param("id"), numberOf(c.req.query("from")))),
  );
  app.get("/api/contests/:id/games/:index", async (c) => {
    const index = numberOf(c.req.param("index")) ?? 0;
    return c.json({ pgn: await contests.gameText(c.req.param("id"), index) });
  });
  app.get("/api/contests/:id/pgn", async (c) => {
    const path = await contests.pgnPath(c.req.param("id"));
    const name = encodeURIComponent(basename(path));
    return sendFile(path, { "Content-Disposition": `attachment; filename*=UTF-8''${name}` });
  });
  return app;
}
