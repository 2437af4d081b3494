import { onchainTable } from "ponder";

/** Every event of the indexed sources, as the chain emitted it. Rows are inserted, never changed. */
export const event = onchainTable("event", (column) => ({
  /** Ponder's checkpoint of the event: time, chain, block, transaction, log. Sorts in chain order. */
  id: column.text().primaryKey(),
  chainId: column.integer().notNull(),
  /** The source that matched. No two sources match one log. */
  source: column.text().notNull(),
  name: column.text().notNull(),
  address: column.hex().notNull(),
  blockNumber: column.bigint().notNull(),
  blockHash: column.hex().notNull(),
  /** Unix seconds. */
  blockTimestamp: column.bigint().notNull(),
  transactionHash: column.hex().notNull(),
  transactionIndex: column.integer().notNull(),
  logIndex: column.integer().notNull(),
  /** Decoded arguments by name: integers as decimal strings, bytes and addresses as lower-case hex. */
  args: column.json().notNull(),
  /** Of events in `eventsWithCall`: the transaction's sender, called contract, last 4 bytes of its calldata. */
  sender: column.hex(),
  target: column.hex(),
  calldataTail: column.hex(),
}));
