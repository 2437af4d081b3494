import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";

/** Types of submitted orders. */
const orderTypes = ["listing", "offer"] as const;
/** Of events, by where they stand: transfers in the log, sales and cancels in projections. */
export const eventTypesIn = {
  log: ["transfer", "mint", "burn"],
  sales: ["sale"],
  activity: ["cancel"],
} as const;
export type EventSource = keyof typeof eventTypesIn;

export const activityTypes = ["sale", "transfer", "mint", "burn", "cancel", ...orderTypes] as const;
export type ActivityType = (typeof activityTypes)[number];

export type EventType = (typeof eventTypesIn)[EventSource][number];
export type OrderType = (typeof orderTypes)[number];

export type ActivityFilter = {
  chainId: number;
  /** null: all. */
  types: readonly ActivityType[] | null;
  /** A collection's contracts; null: the whole chain. */
  contractIds: readonly number[] | null;
  /** With `contractIds` and without a wallet: of one token, in ranges too. */
  tokenId: bigint | null;
  /** On either side. */
  wallet: Hex | null;
};

/** Rows of one source newest first, and where the scan stopped before the source's end; null: there are no more rows. */
export type ScanResult<Row, Key> = { rows: Row[]; stoppedAt: ScanStop<Key> | null };
type ScanStop<Key> = { key: Key; at: Date };

/** Of the first rows of several scans those that come before the point where the first of them stopped. */
export function cutAtStop<Row, Key>(
  rows: Row[],
  limit: number,
  isOlder: (row: Row, key: Key) => boolean,
  stop: ScanStop<Key> | null,
): ScanResult<Row, Key> {
  if (stop === null) return { rows, stoppedAt: null };
  const complete = rows.filter((row) => !isOlder(row, stop.key));
  return { rows: complete, stoppedAt: complete.length === limit ? null : stop };
}

/**
 * SQL: contracts as rows `one (contract_id)`. Of an array the planner expects ten, and plans a statement anew each time
 * where that costs more than the array at hand.
 */
export function contractRows(contractIds: readonly number[]): RawBuilder<unknown> {
  const [only, ...others] = contractIds;
  return only !== undefined && others.length === 0
    ? sql`(select ${only}::int as contract_id) one`
    : sql`unnest(${contractIds}::int[]) one (contract_id)`;
}

/** Rows of an index that one scan reads at most: matching rows may be rare. */
export const maxScannedRows = 10_000;

/** Those of a source that a filter asks for. */
export function eventTypesOf({ types }: ActivityFilter, source: EventSource): readonly EventType[] {
  return eventTypesIn[source].filter((type) => types === null || types.includes(type));
}

export function orderTypesOf({ types }: ActivityFilter): readonly OrderType[] {
  return orderTypes.filter((type) => types === null || types.includes(type));
}
