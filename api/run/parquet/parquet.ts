import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { ColumnType, TextRow } from "../../../projections/reads/analytics/read-rows.ts";
import type { RowsWriter } from "./rows-writer.ts";

/** Rows of a row group: so many are in memory at a time. */
const groupRows = 20_000;

type Kind = {
  /** As the format names it: physical type, and what it means. */
  readonly element: object;
  readonly read: (text: string) => unknown;
};

/** Besides the types of exports: bytes, of hex digits, and microseconds since 1970. */
type ParquetType = ColumnType | "bytes" | "micros";
type ParquetColumn = { readonly name: string; readonly type: ParquetType };

/** Whole numbers of any size and exact decimals are text: the format's own decimals end at 38 digits. */
const kinds: Record<ParquetType, Kind> = {
  boolean: { element: { type: "BOOLEAN" }, read: (text) => text === "true" },
  integer: { element: { type: "INT32" }, read: Number },
  bigint: { element: { type: "INT64" }, read: BigInt },
  double: { element: { type: "DOUBLE" }, read: Number },
  time: {
    element: {
      type: "INT64",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
    },
    read: (text) => new Date(text),
  },
  micros: {
    element: {
      type: "INT64",
      logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
    },
    read: BigInt,
  },
  bytes: { element: { type: "BYTE_ARRAY" }, read: (text) => Buffer.from(text, "hex") },
  text: {
    element: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
    read: (text) => text,
  },
};

/** Rows as Apache Parquet, compressed with Snappy, a row group at a time; every column may be null. */
export function writeParquet(
  columns: readonly ParquetColumn[],
  put: (bytes: Uint8Array) => Promise<void>,
): RowsWriter {
  const bytes = new ByteWriter();
  const writer = Object.assign(bytes, {
    async flush() {
      const written = bytes.getBytes().slice();
      bytes.index = 0;
      await put(written);
    },
  });
  const parquet = new ParquetWriter({
    writer,
    schema: schemaOf(columns),
    createdBy: "order-book-of-record",
  });
  let waiting: TextRow[] = [];
  const writeGroup = async () => {
    const rows = waiting;
    waiting = [];
    const columnData = columns.map(({ name, type }, index) => ({
      name,
      data: rows.map((cells) => {
        const cell = cells[index] ?? null;
        return cell === null ? null : kinds[type].read(cell);
      }),
    }));
    await parquet.write({ columnData, rowGroupSize: groupRows });
  };
  return {
    async write(rows) {
      waiting.push(...rows);
      if (waiting.length >= groupRows) await writeGroup();
    },
    async end() {
      if (waiting.length > 0) await writeGroup();
      await parquet.finish();
      await writer.flush();
    },
  };
}

function schemaOf(columns: readonly ParquetColumn[]) {
  const elements = columns.map(({ name, type }) => ({
    name,
    repetition_type: "OPTIONAL" as const,
    ...kinds[type].element,
  }));
  return [{ name: "root", num_children: columns.length }, ...elements];
}
