import { formatFen, type Position } from "#chess";
import { Store } from "../state/store.js";

/** A move somebody points at: a small board shows the position after it. */
export interface Pointed {
  uci: string;
  after: Position;
}

const SIZE = 216; // pixels, with a margin

/** The small board beside the mouse, one for the whole page; under a finger a first tap shows it and a second plays. */
class Preview extends Store {
  shown: (Pointed & { x: number; y: number }) | undefined;

  /** Shows the position after a move, below the element or above it. */
  show(element: Element, { uci, after }: Pointed): void {
    const { left, top, bottom } = element.getBoundingClientRect();
    const y = bottom + 6 + SIZE > innerHeight ? top - SIZE - 6 : bottom + 6;
    this.shown = { uci, after, x: Math.max(4, Math.min(left, innerWidth - SIZE)), y: Math.max(4, y) };
    this.changed();
  }

  /** Shows another position at the same place. */
  step({ uci, after }: Pointed): void {
    if (!this.shown) return;
    this.shown = { ...this.shown, uci, after };
    this.changed();
  }

  hide(): void {
    if (!this.shown) return;
    this.shown = undefined;
    this.changed();
  }

  /** A click plays at once where something can hover; else the first tap on a move shows it and the second plays. */
  tap(event: MouseEvent & { currentTarget: Element }, pointed: Pointed, play: () => void): void {
    // Lines are made anew by every report, so it is the position that counts.
    const isShown = this.shown !== undefined && formatFen(this.shown.after) === formatFen(pointed.after);
    if (canHover.matches || event.detail === 0 || isShown) {
      this.hide();
      play();
    } else this.show(event.currentTarget, pointed);
  }
}

const canHover = matchMedia("(hover: hover)");

export const preview = new Preview();
