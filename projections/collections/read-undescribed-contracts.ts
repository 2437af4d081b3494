import { sql } from "kysely";
import type { Address } from "viem";
import type { Session } from "../log/database.ts";
import { kindList } from "../log/fact-kinds.ts";
import { bytea, byteaArray, isBurnAddress } from "../log/sql-values.ts";
import { schemaOf } from "../log/versions.ts";

/** Contracts of a chain's collections without an effective description, by address, after `after`. */
export async function readContractsWithoutDescription(
  session: Session,
  chainId: number,
  after: Address | null,
  limit: number,
): Promise<Address[]> {
  const afterBytes = bytea(after ?? "0x");
  const { rows } = await sql<{ address: Address }>`
    select k.address
    from collections.contract m join log.contract k on k.contract_id = m.contract_id
    where not m.is_described and k.chain_id = ${chainId} and k.address > ${afterBytes}
    union
    select c.address
    from collections.registry_contract c
    where c.chain_id = ${chainId} and c.address > ${afterBytes}
      and not exists (
        select from log.contract k join collections.description d on d.contract_id = k.contract_id
        where k.chain_id = c.chain_id and k.address = c.address
      )
    order by address
    limit ${limit}`.execute(session);
  return rows.map((row) => row.address);
}

/** Whether the projection has reached `position`; false before its tables exist. */
export async function areCollectionsAtLeastAt(
  session: Session,
  position: bigint,
): Promise<boolean> {
  const { rows } = await sql`
    select from engine.checkpoint where projection = ${schemaOf("collections")} and position >= ${position}
  `.execute(session);
  return rows.length > 0;
}

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
