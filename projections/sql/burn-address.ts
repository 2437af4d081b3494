import { type RawBuilder, sql } from "kysely";
import { zeroAddress as zero } from "viem";
import { burnAddresses } from "../domain/burn-address.ts";
import { byteaLiteral } from "./bytea.ts";

/** SQL: the address that mints come from and burns go to. */
export const zeroAddress = byteaLiteral(zero);

/** SQL: whether an address is one whose tokens nobody can move: the zero address or the customary dead one. */
export function isBurnAddress(address: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${address} in (${sql.join([...burnAddresses].map(byteaLiteral))}))`;
}
