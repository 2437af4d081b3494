import { stringify } from "#api/run/inspection/stringify.ts";

/** Prints the result of a command: one line of JSON, or lines of text. */
export function print(json: boolean | undefined, content: unknown, lines: readonly string[]): void {
  const text = json ? stringify(content) : lines.join("\n");
  if (text !== "") process.stdout.write(`${text}\n`);
}

/** Spaces between two columns. */
const gap = 2;
/** A column is not made narrower than this. */
const leastWidth = 6;

/**
 * Columns as wide as their widest cell. On a terminal whose width they exceed the widest ones are narrowed, and cells
 * that do not fit are cut; elsewhere nothing is.
 */
export function tableLines(
  rows: readonly (readonly string[])[],
  { isTTY, columns }: { isTTY?: boolean; columns?: number } = process.stdout,
): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  if (isTTY === true && columns !== undefined) narrow(widths, columns);
  return rows.map((row) =>
    row
      .map((cell, column) => cut(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0))
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

/** Takes from the widest columns until all fit. */
function narrow(widths: number[], columns: number): void {
  const total = () => widths.reduce((sum, width) => sum + width + gap, -gap);
  while (total() > columns) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= leastWidth) return;
    widths[widest] = width - 1;
  }
}

const cut = (cell: string, width: number): string =>
  cell.length <= width ? cell : `${cell.slice(0, Math.max(0, width - 1))}…`;
