import { Store } from "../state/store.js";

/** A short message to the user; the next one replaces it. */
class Notice extends Store {
  text = "";
  kind: "plain" | "bad" = "plain";
  private timer: ReturnType<typeof setTimeout> | undefined;

  show(text: string, kind: "plain" | "bad" = "plain"): void {
    this.text = text;
    this.kind = kind;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.clear(), kind === "bad" ? 12_000 : 4_000);
    this.changed();
  }

  clear(): void {
    this.text = "";
    this.changed();
  }
}

export const notice = new Notice();
export const notify = (text: string, kind?: "plain" | "bad"): void => notice.show(text, kind);
