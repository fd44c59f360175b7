// A script of its own, not a module: it runs before the first paint, so that the page never flashes in the wrong theme, and
// the server's content security policy allows no script inside the page.
const chosen = /"theme":"(dark|light)"/.exec(localStorage.getItem("tabiya-settings") || "");
const preferred = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
document.documentElement.dataset.theme = chosen ? chosen[1] : preferred;
