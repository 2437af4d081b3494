import type { StoredRecord } from "./record.ts";

/** How what is stored differs from the chain; empty lists: it does not. */
export type RecordDifference = {
  /** Rows of the chain that are not stored. */
  readonly missing: readonly string[];
  /** Rows that the chain does not have. */
  readonly foreign: readonly string[];
  /** Rows stored more than once. */
  readonly doubled: readonly string[];
  /** Owners, holders and sales that differ. */
  readonly derived: readonly string[];
};

export function compareRecords(stored: StoredRecord, expected: StoredRecord): RecordDifference {
  const rows = (one: StoredRecord) => [...one.transfers, ...one.counters];
  const [storedRows, expectedRows] = [rows(stored), rows(expected)];
  const sales = (one: StoredRecord) => one.sales.map((line) => `sale ${line}`);
  return {
    missing: without(expectedRows, storedRows),
    foreign: without(storedRows, expectedRows),
    doubled: repeated(storedRows),
    derived: [
      ...without(sales(expected), sales(stored)).map((line) => `no ${line}`),
      ...without(sales(stored), sales(expected)).map((line) => `false ${line}`),
      ...repeated(sales(stored)),
      ...differing("owner of", stored.owners, expected.owners),
      ...differing("tokens of", stored.holders, expected.holders),
    ],
  };
}

export const isClean = (difference: RecordDifference): boolean =>
  Object.values(difference).every((lines) => lines.length === 0);

/** In a few words. */
export function describeDifference(difference: RecordDifference): string {
  const parts = Object.entries(difference).flatMap(([kind, lines]) =>
    lines.length === 0
      ? []
      : [
          `${lines.length} ${kind} (${shortened(lines[0])}${lines.length > 1 ? ` to ${shortened(lines.at(-1))}` : ""})`,
        ],
  );
  return parts.length === 0 ? "as the chain" : parts.join(", ");
}

const shortened = (line = ""): string => line.slice(0, 36);

function without(lines: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line));
}

function repeated(lines: readonly string[]): string[] {
  const seen = new Set<string>();
  return lines.filter((line) => seen.size === seen.add(line).size);
}

function differing<Value>(
  what: string,
  stored: ReadonlyMap<string, Value>,
  expected: ReadonlyMap<string, Value>,
): string[] {
  const keys = new Set([...stored.keys(), ...expected.keys()]);
  return [...keys]
    .filter((key) => stored.get(key) !== expected.get(key))
    .map((key) => `${what} ${key}: ${stored.get(key)}, not ${expected.get(key)}`);
}
