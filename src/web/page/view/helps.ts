import { Store } from "../state/store.js";

/** What is shown for a while: the opponent's threat instead of the own moves, or no help at all. */
class Helps extends Store {
  threat = false;
  hidden = false;

  toggle(which: "threat" | "hidden"): void {
    this[which] = !this[which];
    this.changed();
  }
}

export const helps = new Helps();
