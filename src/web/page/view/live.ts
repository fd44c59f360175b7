// The server's side of the page's state: what Train and Judge show.
import { Contests } from "../state/contests.js";
import { feed } from "../state/feed.js";
import { Runs } from "../state/runs.js";

export const runs = new Runs();
export const contests = new Contests();
feed.on((event) => runs.hear(event));
feed.on((event) => contests.hear(event));

/** Colours of curves, of the same order everywhere; they can be told apart in both themes. */
export const COLORS = ["#3f9ddb", "#e08a3c", "#46a86b", "#c864b0", "#b59a1f", "#d9605f", "#5c6fd6", "#2ca6a4"];
