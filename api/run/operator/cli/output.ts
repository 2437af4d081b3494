import { stringify } from "../../inspection/stringify.ts";

/** Prints the result of a command: one line of JSON, or lines of text. */
export function print(json: boolean | undefined, content: unknown, lines: readonly string[]): void {
  const text = json ? stringify(content) : lines.join("\n");
  if (text !== "") process.stdout.write(`${text}\n`);
}

/** Columns as wide as their widest cell. */
export function tableLines(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
