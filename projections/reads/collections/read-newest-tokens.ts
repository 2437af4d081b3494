import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "#projections/log/database.ts";
import { kindList } from "#projections/log/fact-kinds.ts";
import { isBurnAddress, byteaArray } from "#projections/log/sql-values.ts";

/** A token that a contract's ERC-721 events say an address holds. */
export type LoggedToken = { contract: Address; tokenId: bigint; owner: Address };

/** Newest transfers of a contract that are looked at. */
const transfersRead = 20;

/** Of each contract some tokens by its newest ERC-721 transfers, at most `limit`, as the log has them. */
export async function readNewestTokens(
  session: Session,
  chainId: number,
  contracts: readonly Address[],
  limit: number,
): Promise<LoggedToken[]> {
  const { rows } = await sql<LoggedToken>`
    select k.address as contract, t.token_id as "tokenId", t.to_address as owner
    from log.contract k cross join lateral (
      select * from (
        select distinct on (f.token_id) f.token_id, f.to_address, f.block_id
        from (
          select * from log.fact
          where contract_id = k.contract_id
            and kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer", "erc1155_transfer")}
          order by contract_id desc, block_id desc, log_index desc, sub_index desc limit ${sql.lit(transfersRead)}
        ) f
        where f.kind in ${kindList("erc721_transfer", "erc721_consecutive_transfer")}
        order by f.token_id, f.block_id desc, f.log_index desc
      ) last
      where not ${isBurnAddress(sql`last.to_address`)} order by last.block_id desc limit ${limit}
    ) t
    where k.chain_id = ${chainId} and k.address = any (${byteaArray(contracts)})`.execute(session);
  return rows;
}
