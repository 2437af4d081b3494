import { sql } from "kysely";

/** What a column's text is: `bytes` hex digits, `micros` microseconds since 1970, the others as PostgreSQL writes them. */
export type ArchivedType = "bigint" | "integer" | "text" | "bytes" | "micros";
export type ArchivedColumn = { readonly name: string; readonly type: ArchivedType };

/** All columns of `log.fact`, in its order. */
export const archivedColumns: readonly ArchivedColumn[] = [
  { name: "position", type: "bigint" },
  { name: "block_id", type: "bigint" },
  { name: "transaction_index", type: "integer" },
  { name: "log_index", type: "integer" },
  { name: "contract_id", type: "integer" },
  { name: "sub_index", type: "integer" },
  { name: "kind", type: "integer" },
  { name: "token_id", type: "text" },
  { name: "amount", type: "text" },
  { name: "from_address", type: "bytes" },
  { name: "to_address", type: "bytes" },
  { name: "order_hash", type: "bytes" },
  { name: "identity", type: "bytes" },
  { name: "recorded_at", type: "micros" },
  { name: "payload", type: "text" },
];

/** Between the cells of a line, and in place of a null. No cell holds either: JSON escapes them, the others are words. */
const separator = "\t";
const none = "\\N";

function textOf({ name, type }: ArchivedColumn): string {
  if (type === "bytes") return `encode(f.${name}, 'hex')`;
  if (type === "micros") return `(extract(epoch from f.${name}) * 1000000)::bigint::text`;
  return `f.${name}::text`;
}

/** SQL: a fact `f` as one line of text, from which its row can be made again exactly. */
export const lineOfFact = sql.raw<string>(
  `array_to_string(array[${archivedColumns.map(textOf).join(", ")}], E'\\t', '\\N')`,
);

export const cellsOf = (line: string): (string | null)[] =>
  line.split(separator).map((cell) => (cell === none ? null : cell));

export const lineOf = (cells: readonly (string | null)[]): string =>
  cells.map((cell) => cell ?? none).join(separator);
