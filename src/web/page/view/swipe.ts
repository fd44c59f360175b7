const FAR = 48; // pixels

/** Calls back when a finger is drawn sideways over the element: 1 for the next page, -1 for the one before. */
export function swipe(turn: (by: 1 | -1) => void): (element: HTMLElement) => () => void {
  return (element) => {
    let start: { x: number; y: number } | undefined;
    const down = ({ touches, target }: TouchEvent) => {
      start = touches.length === 1 ? { x: touches[0].clientX, y: touches[0].clientY } : undefined;
      // On what was touched: a line of a running analysis may be replaced below the finger, and its events no longer bubble.
      target?.addEventListener("touchend", up as EventListener, { passive: true, once: true });
    };
    const up = ({ changedTouches }: TouchEvent) => {
      if (!start) return;
      const [x, y] = [changedTouches[0].clientX - start.x, changedTouches[0].clientY - start.y];
      start = undefined;
      if (Math.abs(x) > FAR && Math.abs(x) > 2 * Math.abs(y)) turn(x < 0 ? 1 : -1);
    };
    element.addEventListener("touchstart", down, { passive: true });
    return () => element.removeEventListener("touchstart", down);
  };
}
