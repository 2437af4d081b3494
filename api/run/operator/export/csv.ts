import type { Column } from "#projections/analytics/read-rows.ts";
import type { RowsWriter } from "./rows-writer.ts";

/** Rows as RFC 4180 has them, below a line of the columns' names. */
export function writeCsv(
  columns: readonly Column[],
  put: (text: string) => Promise<void>,
): RowsWriter {
  let head = csvLines([columns.map(({ name }) => name)]);
  const write = async (rows: Parameters<typeof csvLines>[0]) => {
    const lines = head + csvLines(rows);
    head = "";
    await put(lines);
  };
  return { write, end: () => write([]) };
}

/** CRLF after each, null an empty field, an empty text two quotes. */
function csvLines(rows: readonly (readonly (string | null)[])[]): string {
  return rows.map((cells) => `${cells.map(field).join(",")}\r\n`).join("");
}

function field(cell: string | null): string {
  if (cell === null) return "";
  return cell === "" || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
