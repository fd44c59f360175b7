/** One colour for each network that watches, on lamps, stripes and arrows. */
export const WATCHER_COLORS = ["#5fc49a", "#6ea8f0", "#e6a15c", "#c98be0"] as const;
