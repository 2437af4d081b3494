import { sql } from "kysely";
import { commonConduit, seaport } from "#abis/deployments.ts";
import { chainIds } from "#chains/index.ts";
import { byteaLiteral } from "../log/sql-values.ts";

/** Addresses of the exchange that orders are signed for, and of the conduit that moves listed tokens. */
export const exchange = byteaLiteral(seaport["1.6"]);
export const conduit = byteaLiteral(commonConduit.address);

/** Contract ids per chain: `chain_id`, `exchange_id`, `conduit_id`; null before the first fact of the contract. */
export const exchangeContracts = sql`
  select chain_id, max(contract_id) filter (where address = ${exchange}) as exchange_id,
         max(contract_id) filter (where address = ${conduit}) as conduit_id
  from log.contract
  where chain_id in (${sql.join(chainIds.map((id) => sql.lit(id)))}) and address in (${exchange}, ${conduit})
  group by chain_id`;
