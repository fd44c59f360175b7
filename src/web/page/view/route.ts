import { Store } from "../state/store.js";

export const VIEWS = [
  { id: "play", name: "Play", glyph: "♞" },
  { id: "inside", name: "Look inside", glyph: "◎" },
  { id: "train", name: "Train", glyph: "∿" },
  { id: "judge", name: "Judge", glyph: "⚖" },
  { id: "puzzles", name: "Puzzles", glyph: "✦" },
  { id: "networks", name: "Networks", glyph: "⬡" },
  { id: "cluster", name: "Cluster", glyph: "⁂" }, // where the server watches one
] as const;
export type View = (typeof VIEWS)[number]["id"];

const isView = (text: string): text is View => VIEWS.some(({ id }) => id === text);

/** What the address says behind "#": a view, a rest of the path, and a query. */
export class Route extends Store {
  view: View = "play";
  rest = "";
  query = "";

  read(hash: string): void {
    const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
    const [first = "", ...rest] = path.split("/");
    this.view = isView(first) ? first : "play";
    this.rest = rest.join("/");
    this.query = query;
    this.changed();
  }
}

export const route = new Route();
route.read(location.hash);
addEventListener("hashchange", () => route.read(location.hash));
