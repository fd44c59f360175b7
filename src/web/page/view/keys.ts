import { parseUci } from "#chess";
import { helps } from "./helps.js";
import { analysis, game, settings, watch } from "./studio.js";

function playBest(): void {
  const best =
    analysis.watchers.find(({ report }) => report)?.report?.lines[0]?.pv[0] ?? game.tree.current.verdict?.best;
  const move = best === undefined ? undefined : parseUci(game.position, best);
  if (move !== undefined && game.mayMove(game.position.turn)) game.play(move);
}

const KEYS: Record<string, () => void> = {
  ArrowLeft: () => game.back(),
  k: () => game.back(),
  ArrowRight: () => game.forward(),
  j: () => game.forward(),
  ArrowUp: () => game.toStart(),
  ArrowDown: () => game.toEnd(),
  " ": playBest,
  f: () => game.flip(),
  t: () => game.takeBack(),
  l: () => watch(!analysis.isOn),
  a: () => settings.set("arrows", !settings.values.arrows),
  x: () => helps.toggle("threat"),
  z: () => helps.toggle("hidden"),
  i: () => {
    location.hash = location.hash.startsWith("#/inside") ? "#/play" : "#/inside";
  },
  "/": () => document.getElementById("move-input")?.focus(),
  "1": () => analysis.toggle(0),
  "2": () => analysis.toggle(1),
  "3": () => analysis.toggle(2),
  "4": () => analysis.toggle(3),
};

/** Keys of a view with a game, lichess's where they exist. Not while something is typed. */
export function gameKeys(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, textarea, select, dialog")) return;
  if (event.key === " " && target.closest("button, a, summary")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}
