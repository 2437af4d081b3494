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

/** What an engine's types hold; null: whatever there is. */
export type EngineLimits = {
  readonly integer256: bigint | null;
  /** Years before this one. */
  readonly year: number | null;
};

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

/** The name of the column that holds, as JSON, exact values which an engine's types do not hold: there they are null. */
export const beyond = "beyond";

/** SQL expressions of a row's values as CSV is to have them, with `beyond` where the engine has limits. */
export function valuesOf(columns: readonly CopiedColumn[], limits: EngineLimits): string[] {
  const values = columns.map((column) => copiedValue(column, fits(column, limits)));
  const limited = columns.filter((column) => fits(column, limits) !== null);
  if (limits.integer256 === null && limits.year === null) return values;
  return [...values, limited.length === 0 ? "''" : beyondOf(limited, limits)];
}

function copiedValue({ name, kind }: CopiedColumn, fit: string | null): string {
  const value = `q."${name}"`;
  if (kind === "boolean") return `${value}::int`;
  if (kind === "decimal") return `case when abs(${value}) < ${decimalLimit} then ${value} end`;
  return fit === null ? value : `case when ${fit} then ${value} end`;
}

/** SQL: whether a value fits; null where every value does. Keys always fit: a chain knows no others. */
function fits({ name, kind, isKey }: CopiedColumn, limits: EngineLimits): string | null {
  const value = `q."${name}"`;
  if (isKey) return null;
  if (kind === "integer256" && limits.integer256 !== null)
    return `${value} between 0 and ${limits.integer256}`;
  if (kind === "time" && limits.year !== null)
    return `${value} >= '1900-01-01Z' and ${value} < '${limits.year}-01-01Z'`;
  return null;
}

function beyondOf(columns: readonly CopiedColumn[], limits: EngineLimits): string {
  const all = columns.map((column) => `(${fits(column, limits)}) is not false`).join(" and ");
  const exact = columns.map(
    (column) => `'${column.name}', case when (${fits(column, limits)}) is false
      then q."${column.name}"::text end`,
  );
  return `case when ${all} then '' else jsonb_strip_nulls(jsonb_build_object(${exact.join(", ")}))::text end`;
}
