import { type RawBuilder, sql } from "kysely";

/** Addresses whose tokens nobody can move: the zero address and the customary dead one. */
const burnAddresses = [
  "0000000000000000000000000000000000000000",
  "000000000000000000000000000000000000dead",
];

/** SQL: whether an address column is a burn address. */
export function isBurnAddress(address: RawBuilder<unknown>): RawBuilder<boolean> {
  const list = sql.raw(burnAddresses.map((hex) => `'\\x${hex}'::bytea`).join(", "));
  return sql<boolean>`(${address} in (${list}))`;
}
