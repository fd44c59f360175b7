import "@lichess-org/chessground/assets/chessground.base.css";
import "@lichess-org/chessground/assets/chessground.cburnett.css";
import "./view/style.css";
import "./view/boards.css";
import { mount } from "svelte";
import { addPieceSets } from "./board/pieces.js";
import { server } from "./state/server.js";
import App from "./view/App.svelte";

if (server.takeToken(location.hash, sessionStorage)) history.replaceState(null, "", "#/play");
addPieceSets();
const target = document.getElementById("app");
if (target) {
  target.replaceChildren();
  mount(App, { target });
}
void server.connect().then(async () => {
  if (server.connected) await import("./view/live.js");
});
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  // Without it, or where it is forbidden, the page only needs its server again.
  navigator.serviceWorker.register("./sw.js").catch(() => {});
}
