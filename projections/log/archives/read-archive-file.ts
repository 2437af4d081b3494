import { asyncBufferFromFile, parquetMetadataAsync, parquetRead } from "hyparquet";
import { type ArchivedType, archivedColumns, lineOf } from "./archived-columns.ts";
import type { FactLine } from "./read-lines.ts";

/** The facts of an archive's file in the order that they have there, a row group at a time. */
export async function* readArchiveFile(place: string): AsyncGenerator<FactLine[]> {
  const file = await asyncBufferFromFile(place);
  const metadata = await parquetMetadataAsync(file, { parsers });
  const names = metadata.schema.slice(1).map(({ name }) => name);
  if (names.join() !== archivedColumns.map(({ name }) => name).join())
    throw new Error(`${place} has the columns ${names.join(", ")}: it is no archive of the log`);
  let from = 0;
  for (const group of metadata.row_groups) {
    const until = from + Number(group.num_rows);
    const rows: unknown[][] = [];
    await parquetRead({
      file,
      metadata,
      parsers,
      utf8: false,
      rowStart: from,
      rowEnd: until,
      onComplete: (read) => void rows.push(...read),
    });
    yield rows.map(factLine);
    from = until;
  }
}

/** A date has milliseconds only. */
const parsers = { timestampFromMicroseconds: (micros: bigint) => micros };

const texts: Readonly<Record<ArchivedType, (value: unknown) => string>> = {
  bigint: String,
  integer: String,
  micros: String,
  text: String,
  bytes: (value) => Buffer.from(value as Uint8Array).toString("hex"),
};

function factLine(row: readonly unknown[]): FactLine {
  const cells = archivedColumns.map(({ type }, index) => {
    const value = row[index] ?? null;
    return value === null ? null : texts[type](value);
  });
  return { position: BigInt(cells[0] ?? -1), line: lineOf(cells) };
}
