import { onchainTable } from "ponder";

export const transfer = onchainTable("transfer", (column) => ({
  id: column.text().primaryKey(),
  number: column.bigint().notNull(),
  hash: column.hex().notNull(),
  logIndex: column.bigint().notNull(),
  tokenId: column.bigint().notNull(),
  from: column.hex().notNull(),
  to: column.hex().notNull(),
}));

export const counter = onchainTable("counter", (column) => ({
  id: column.text().primaryKey(),
  number: column.bigint().notNull(),
  hash: column.hex().notNull(),
  logIndex: column.bigint().notNull(),
}));

export const sale = onchainTable("sale", (column) => ({
  id: column.text().primaryKey(),
  hash: column.hex().notNull(),
  tokenId: column.bigint().notNull(),
  price: column.bigint().notNull(),
  seller: column.hex().notNull(),
  buyer: column.hex().notNull(),
}));

export const token = onchainTable("token", (column) => ({
  tokenId: column.bigint().primaryKey(),
  owner: column.hex().notNull(),
  /** Number of the block with its last transfer. */
  number: column.bigint().notNull(),
}));

export const collection = onchainTable("collection", (column) => ({
  address: column.hex().primaryKey(),
  name: column.text(),
  symbol: column.text(),
}));
