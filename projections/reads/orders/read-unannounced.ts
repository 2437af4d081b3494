import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "../../database.ts";
import { factKind } from "../../log/fact-kind.ts";

/** Where a walk over orders that contracts sign stands. */
export type SignedPlace = { orderHash: Hex; position: bigint };

/** Open orders of the house that only their makers' contracts stand by, the oldest first, after one. */
export async function readContractSigned(
  db: Database,
  chainId: number,
  after: SignedPlace | null,
  limit: number,
): Promise<SignedPlace[]> {
  const ofBook = (book: string) => sql`
    (select order_hash, position from ${sql.table(book)}
     where chain_id = ${chainId} and is_contract_signed and status in ('active', 'inactive')
       and position > ${after?.position ?? 0n}
     order by position limit ${limit})`;
  const { rows } = await sql<SignedPlace>`
    select order_hash as "orderHash", position
    from (${ofBook("listings.listing")} union all ${ofBook("bids.bid")}) o
    order by position limit ${limit}`.execute(db);
  return rows;
}

/** Where a walk over listings stands that goes from contract to contract. */
export type MovedPlace = {
  orderHash: Hex;
  contractId: number;
  status: string;
  unitPriceWei: bigint;
  position: bigint;
};

const place = sql`
  l.order_hash as "orderHash", l.contract_id as "contractId", l.status, l.unit_price_wei as "unitPriceWei", l.position`;

/**
 * Listings of contracts that were once found to refuse the conduit, as far as nothing but another refusal hides them.
 * From contract to contract, after one.
 */
export async function readRefusable(
  db: Database,
  chainId: number,
  after: MovedPlace | null,
  limit: number,
): Promise<MovedPlace[]> {
  const isRefusal = sql`f.kind = ${sql.lit(factKind.transfer_read)}`;
  const from = after?.contractId ?? 0;
  const ifSame = (there: unknown, otherwise: unknown, type: string) =>
    sql`case when c.contract_id = ${from} then ${there} else ${otherwise} end::${sql.raw(type)}`;
  // A contract may have a million such readings: each step finds the next contract by the index, in their order.
  const { rows } = await sql<MovedPlace>`
    with recursive refusing as (
      (select f.contract_id from log.fact f where ${isRefusal} and f.contract_id >= ${from}
       order by f.contract_id limit 1)
      union all
      select (select f.contract_id from log.fact f where ${isRefusal} and f.contract_id > r.contract_id
              order by f.contract_id limit 1)
      from refusing r where r.contract_id is not null
    )
    select ${place}
    from refusing c cross join lateral (
      select * from listings.listing l
      where l.contract_id = c.contract_id and l.chain_id = ${chainId} and l.status in ('active', 'inactive') and l.is_conduit_known
        and (l.reason is null or l.reason in ('superseded', 'transfer_restricted'))
        and (l.status, l.unit_price_wei, l.position) > (
          ${ifSame(after?.status ?? "", "", "text")}, ${ifSame(after?.unitPriceWei ?? -1n, -1n, "numeric")},
          ${ifSame(after?.position ?? 0n, 0n, "bigint")})
      order by l.status, l.unit_price_wei, l.position limit ${limit}
    ) l
    limit ${limit}`.execute(db);
  return rows;
}

/** Of each contract its cheapest listing for sale, which stands for the others. From contract to contract, after one. */
export async function readCheapestOfContracts(
  db: Database,
  chainId: number,
  after: MovedPlace | null,
  limit: number,
): Promise<MovedPlace[]> {
  const { rows } = await sql<MovedPlace>`
    select ${place}
    from (
      select distinct contract_id from listings.count
      where chain_id = ${chainId} and contract_id > ${after?.contractId ?? 0} and status = 'active'
      order by contract_id
    ) c
    cross join lateral (
      select * from listings.listing l
      where l.contract_id = c.contract_id and l.status = 'active' and l.is_buyable and l.is_conduit_known
      order by l.unit_price_wei, l.position limit 1
    ) l
    limit ${limit}`.execute(db);
  return rows;
}
