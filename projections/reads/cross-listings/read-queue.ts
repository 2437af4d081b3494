import { sql } from "kysely";
import type { Hex } from "viem";
import type { ChainId } from "../../../abis/deployments.ts";
import type { Database } from "../../database.ts";
import type { OrderComponents } from "../../domain/seaport/order-components.ts";
import type { PartnerName } from "../../facts/partner-listing.ts";
import type { TwinName } from "../../facts/twin-facts.ts";
import { factKind } from "../../log/fact-kind.ts";
import { unixSeconds } from "../orders/read-shown.ts";
import { componentsOf, type Plain } from "../orders/read-signed-order.ts";

export type QueuedTwin = TwinName & {
  /** Of the fact that submitted it. */
  position: bigint;
  components: OrderComponents;
  signature: Hex;
};

type Queue = { marketplace: PartnerName; chainIds: readonly ChainId[] };

/**
 * Twins that are to be posted, from a position on, in the order of the log: the last of a listing that is active,
 * while neither has ended. Later twins and answers count though they are not projected yet.
 */
export async function readTwinQueue(
  db: Database,
  { marketplace, chainIds }: Queue,
  { after, limit, now }: { after: bigint; limit: number; now: Date },
): Promise<QueuedTwin[]> {
  type Row = Omit<QueuedTwin, "components"> & { components: Plain<OrderComponents> };
  const { rows } = await sql<Row>`
    select t.position, t.marketplace, t.chain_id as "chainId", k.address as contract,
           t.order_hash as "orderHash", t.twin_hash as "twinHash", f.payload -> 'components' as components,
           f.payload ->> 'signature' as signature
    from twins.twin t
    join log.fact f on f.position = t.position
    join log.contract k on k.contract_id = f.contract_id
    join listings.listing o on o.chain_id = t.chain_id and o.order_hash = t.order_hash
    where t.is_queued and t.marketplace = ${marketplace} and t.chain_id = any (${[...chainIds]}::int[])
      and t.position > ${after} and o.status = 'active'
      and least(t.end_time, o.end_time) > ${unixSeconds(now)}::bigint
      and not exists (
        select from log.fact later
        where later.order_hash = t.order_hash and later.kind = ${sql.lit(factKind.twin_submitted)}
          and later.contract_id = f.contract_id and later.payload ->> 'marketplace' = t.marketplace
          and later.position > t.position
      )
      and not exists (
        select from log.fact a
        where a.order_hash = t.order_hash and a.kind = ${sql.lit(factKind.twin_answered)}
          and a.contract_id = f.contract_id and a.payload ->> 'marketplace' = t.marketplace
          and a.payload ->> 'twinHash' = '0x' || encode(t.twin_hash, 'hex')
      )
    order by t.position
    limit ${limit}`.execute(db);
  return rows.map((row) => ({ ...row, components: componentsOf(row.components) }));
}

/** Whether there are tables to read. */
export async function haveTwins(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select from engine.checkpoint where projection in ('twins', 'listings')
    having count(*) = 2`.execute(db);
  return rows.length > 0;
}
