import { type RawBuilder, sql } from "kysely";

/** SQL: the address that mints come from and burns go to. */
export const zeroAddress = sql.raw(`'\\x${"00".repeat(20)}'::bytea`);
const deadAddress = sql.raw(`'\\x${"00".repeat(18)}dead'::bytea`);

/** SQL: whether an address is one whose tokens nobody can move: the zero address or the customary dead one. */
export function isBurnAddress(address: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${address} in (${zeroAddress}, ${deadAddress}))`;
}
