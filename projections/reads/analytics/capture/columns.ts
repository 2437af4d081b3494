/** What a column holds. `integer256`: whole numbers of any size; `decimal`: amounts in ETH or APE. */
export type CopiedKind =
  | "boolean"
  | "integer"
  | "bigint"
  | "double"
  | "time"
  | "text"
  | "json"
  | "integer256"
  | "decimal";
export type CopiedColumn = {
  readonly name: string;
  readonly kind: CopiedKind;
  readonly isKey: boolean;
};

/** What ClickHouse's types hold: UInt256, and times of years before this one. */
const greatestInteger = 2n ** 256n - 1n;
const endYear = 2262;

const kindsByType: Readonly<Record<number, CopiedKind>> = {
  16: "boolean",
  21: "integer",
  23: "integer",
  20: "bigint",
  701: "double",
  1184: "time",
  3802: "json",
};
const numeric = 1700;

/** A column of PostgreSQL by its type's number. */
export function copiedColumn(name: string, type: number, key: readonly string[]): CopiedColumn {
  const isKey = key.includes(name);
  if (type !== numeric) return { name, kind: kindsByType[type] ?? "text", isKey };
  return { name, kind: name.includes("_native") ? "decimal" : "integer256", isKey };
}

/** From here on an amount in ETH or APE is null; the same amount in wei is exact. */
const decimalLimit = "100000000000000000000";

/** The name of the column that holds, as JSON, exact values which ClickHouse's types do not hold: there they are null. */
export const beyond = "beyond";

/** SQL expressions of a row's values as CSV is to have them, with `beyond`. */
export function valuesOf(columns: readonly CopiedColumn[]): string[] {
  const limited = columns.filter((column) => fits(column) !== null);
  return [...columns.map(copiedValue), limited.length === 0 ? "''" : beyondOf(limited)];
}

function copiedValue(column: CopiedColumn): string {
  const { name, kind } = column;
  const fit = fits(column);
  const value = `q."${name}"`;
  if (kind === "boolean") return `${value}::int`;
  if (kind === "decimal") return `case when abs(${value}) < ${decimalLimit} then ${value} end`;
  return fit === null ? value : `case when ${fit} then ${value} end`;
}

/** SQL: whether a value fits; null where every value does. Keys always fit: a chain knows no others. */
function fits({ name, kind, isKey }: CopiedColumn): string | null {
  const value = `q."${name}"`;
  if (isKey) return null;
  if (kind === "integer256") return `${value} between 0 and ${greatestInteger}`;
  if (kind === "time") return `${value} >= '1900-01-01Z' and ${value} < '${endYear}-01-01Z'`;
  return null;
}

function beyondOf(columns: readonly CopiedColumn[]): string {
  const all = columns.map((column) => `(${fits(column)}) is not false`).join(" and ");
  const exact = columns.map(
    (column) => `'${column.name}', case when (${fits(column)}) is false
      then q."${column.name}"::text end`,
  );
  return `case when ${all} then '' else jsonb_strip_nulls(jsonb_build_object(${exact.join(", ")}))::text end`;
}
