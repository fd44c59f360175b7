// The server's side of the page's state: what Train and Judge show.
import { Contests } from "../state/contests.js";
import { feed } from "../state/feed.js";
import { Runs } from "../state/runs.js";

export const runs = new Runs();
export const contests = new Contests();
feed.on((event) => runs.hear(event));
feed.on((event) => contests.hear(event));

export { COLORS } from "../../report/curves.js";
