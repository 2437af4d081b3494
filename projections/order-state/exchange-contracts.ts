import { sql } from "kysely";
import type { Address } from "viem";
import { chainIds, commonConduit, seaport } from "../../abis/deployments.ts";

/** As bytes in a statement. */
const literal = (address: Address) => sql`${sql.lit(`\\x${address.slice(2)}`)}::bytea`;

/** The exchange that orders are made for, and the conduit that listings are moved by. */
export const exchange = literal(seaport["1.6"]);
export const conduit = literal(commonConduit.address);

/** Where orders trade on each chain: `chain_id`, `exchange_id`, `conduit_id`, null while the log names none. */
export const exchangeContracts = sql`
  select chain_id, max(contract_id) filter (where address = ${exchange}) as exchange_id,
         max(contract_id) filter (where address = ${conduit}) as conduit_id
  from log.contract
  where chain_id in (${sql.join(chainIds.map((id) => sql.lit(id)))}) and address in (${exchange}, ${conduit})
  group by chain_id`;
