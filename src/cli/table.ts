// Tables and colours for the terminal.

const CODES = { good: "\x1b[32m", warm: "\x1b[33m", "": "" } as const;
const RESET = "\x1b[0m";

/** Whether what is printed may be coloured (https://no-color.org). */
export const hasColor = (): boolean => Boolean(process.stdout.isTTY) && !process.env.NO_COLOR;

export const style = (text: string, kind: keyof typeof CODES, isColored: boolean): string =>
  isColored && kind !== "" ? `${CODES[kind]}${text}${RESET}` : text;

// biome-ignore lint/suspicious/noControlCharactersInRegex: what colours are made of
const widthOf = (text: string): number => text.replace(/\x1b\[\d+m/g, "").length;

/** Rows of cells as lines with aligned columns. */
export function formatTable(rows: readonly (readonly string[])[], gap = 2): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, widthOf(cell));
  return rows.map((row) =>
    row
      .map((cell, i) => cell + " ".repeat(widths[i] - widthOf(cell) + gap))
      .join("")
      .trimEnd(),
  );
}
