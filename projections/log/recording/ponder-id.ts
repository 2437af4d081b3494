import { type RawBuilder, sql } from "kysely";

/**
 * Ponder's checkpoints and event ids are 75 digits that sort as text: timestamp (10), chain id (16), block number (16),
 * then the place in the block.
 */
const TIMESTAMP_END = 10;
const NUMBER_START = 26;
const NUMBER_DIGITS = 16;
const TRANSACTION_END = NUMBER_START + NUMBER_DIGITS + 16;

/** Text after every id: a range with both ends is expected to be small by a plan that was made for any ids. */
export const afterAllIds = "z";

export const blockNumberOf = (id: string): bigint =>
  BigInt(id.slice(NUMBER_START, NUMBER_START + NUMBER_DIGITS));

/** Unix seconds. */
export const timestampOf = (id: string): number => Number(id.slice(0, TIMESTAMP_END));

/** SQL: the block number in a column of ids. */
export const blockNumberIn = (id: string): RawBuilder<bigint> =>
  sql<bigint>`substr(${sql.ref(id)}, ${sql.lit(NUMBER_START + 1)}, ${sql.lit(NUMBER_DIGITS)})::bigint`;

/** SQL: what the ids of a transaction's events begin with, of a column of ids. */
export const transactionPrefixOf = (id: string): RawBuilder<string> =>
  sql<string>`left(${sql.ref(id)}, ${sql.lit(TRANSACTION_END)})`;
