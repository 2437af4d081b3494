import { ByteWriter, ParquetWriter, type SchemaElement } from "hyparquet-writer";
import type { ColumnType, ExportColumn, TextRow } from "./read-rows.ts";

/** Rows of a row group: so many are in memory at a time. */
const groupRows = 20_000;

/** An element of the file's schema, as the format has it. */
type Element = { readonly name: string; readonly [property: string]: unknown };

/** A column of the file. */
type Field = {
  /** The column itself, then what is nested in it. */
  readonly elements: readonly [Element, ...Element[]];
  readonly read: (text: string) => unknown;
};

const optional = { repetition_type: "OPTIONAL" } as const;
const string = { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } };
const timestamp = {
  type: "INT64",
  logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
};

const field =
  (element: object, read: (text: string) => unknown) =>
  (name: string): Field[] => [{ elements: [{ name, ...optional, ...element }], read }];

/** The most digits that the format's decimals have, in so many bytes. */
const mostDigits = 38;
const decimalBytes = 16;

const decimal = (scale: number) => ({
  type: "FIXED_LEN_BYTE_ARRAY",
  type_length: decimalBytes,
  converted_type: "DECIMAL",
  logical_type: { type: "DECIMAL", precision: mostDigits, scale },
  precision: mostDigits,
  scale,
});

/** A decimal's digits without its point; null where the number has more of them than the format allows. */
function unscaled(text: string, scale: number): bigint | null {
  const [, sign = "", whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d+?)0*)?$/.exec(text) ?? [];
  if (whole === "" || fraction.length > scale) return null;
  const digits = whole + fraction.padEnd(scale, "0");
  return digits.replace(/^0+/, "").length > mostDigits ? null : BigInt(sign + digits);
}

/** A decimal, and beside it as text the numbers that have too many digits for it. */
const exact =
  (scale: number) =>
  (name: string): Field[] => [
    ...field(decimal(scale), (text) => unscaled(text, scale))(name),
    ...field(string, (text) => (unscaled(text, scale) === null ? text : null))(`${name}_text`),
  ];

type Fee = { recipient: string; wei: string; bps: number; kind: string };

/** A list of structs. */
const fees = (name: string): Field[] => [
  {
    elements: [
      {
        name,
        ...optional,
        num_children: 1,
        converted_type: "LIST",
        logical_type: { type: "LIST" },
      },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { name: "element", ...optional, num_children: 4 },
      { name: "recipient", ...optional, ...string },
      { name: "wei", ...optional, ...decimal(0) },
      { name: "bps", ...optional, type: "INT32" },
      { name: "kind", ...optional, ...string },
    ],
    read: (text) =>
      (JSON.parse(text) as Fee[]).map(({ recipient, wei, bps, kind }) => ({
        ...{ recipient, wei: unscaled(wei, 0), bps, kind },
      })),
  },
];

const fieldsOf: Record<ColumnType, (name: string) => Field[]> = {
  boolean: field({ type: "BOOLEAN" }, (text) => text === "true"),
  integer: field({ type: "INT32" }, Number),
  bigint: field({ type: "INT64" }, BigInt),
  double: field({ type: "DOUBLE" }, Number),
  time: field(timestamp, (text) => new Date(text)),
  text: field(string, (text) => text),
  whole: exact(0),
  native: exact(18),
  fees,
};

/** Rows as Apache Parquet, compressed with Snappy, a row group at a time; every column may be null. */
export function writeParquet(
  columns: readonly ExportColumn[],
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
    const columnData = columns.flatMap(({ name, type }, index) =>
      fieldsOf[type](name).map(({ elements: [{ name: column }], read }) => ({
        name: column,
        data: rows.map((cells) => {
          const cell = cells[index] ?? null;
          return cell === null ? null : read(cell);
        }),
      })),
    );
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

function schemaOf(columns: readonly ExportColumn[]): SchemaElement[] {
  const fields = columns.flatMap(({ name, type }) => fieldsOf[type](name));
  const elements = fields.flatMap((one) => one.elements);
  return [{ name: "root", num_children: fields.length }, ...elements] as SchemaElement[];
}

/** Writes rows of an export in some format. */
export type RowsWriter = {
  write(rows: readonly TextRow[]): Promise<void>;
  /** What the format has behind the last row. */
  end(): Promise<void>;
};
