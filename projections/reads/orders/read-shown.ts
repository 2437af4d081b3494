import { type RawBuilder, sql } from "kysely";
import type { Hex } from "viem";
import type { OrderStatus } from "../../domain/orders/order-status.ts";
import { usdE8Of } from "../../sql/usd.ts";

/** What the two books tell alike of an order. Wei are per unit; times are unix seconds. */
export type ShownOrder = {
  chainId: number;
  orderHash: Hex;
  /** Of the fact that told it first. */
  position: bigint;
  contractId: number;
  contract: Hex;
  standard: 721 | 1155;
  maker: Hex;
  unitPriceWei: bigint;
  /** The same in 10⁻⁸ USD at the coin's price of now; null where nobody knows it. */
  unitPriceUsdE8: bigint | null;
  sellerNetWei: bigint;
  quantity: bigint;
  filled: bigint;
  startTime: bigint;
  endTime: bigint;
  counter: bigint;
  fees: { recipient: Hex; unitWei: string; kind: "service" | "royalty" | "other" }[];
  createdAt: Date;
  /** `createdAt` in microseconds, as exact as it is stored. */
  createdMicros: bigint;
  status: OrderStatus;
  updatedAt: Date;
  collectionAddress: Hex;
  collectionSlug: string | null;
  collectionName: string | null;
};

/** An order can be fillable again until it ends. Says what the books' partial indexes say, so that they serve. */
export const isOpen = sql`o.status in ('active', 'inactive')`;

/** The clock of the tables is that of the last tick: an order may have ended since. */
export function hasEnded(now: Date): RawBuilder<boolean> {
  return sql`o.end_time <= ${unixSeconds(now)}::bigint`;
}

export function unixSeconds(now: Date): bigint {
  return BigInt(Math.floor(now.getTime() / 1000));
}

/** Whether row `o` has ended between its tables' clock and now. */
export function endedSince(now: Date): RawBuilder<boolean> {
  return sql`(${isOpen} and ${hasEnded(now)})`;
}

/** Columns of `ShownOrder` and `reason`, of a book's row `o` joined with `naming`. */
export function shownColumns(now: Date): RawBuilder<unknown> {
  const ended = endedSince(now);
  const moment = sql`${now.toISOString()}::timestamptz`;
  const usdE8 = usdE8Of(sql`o.unit_price_wei`, sql`o.chain_id`, moment);
  return sql`
    o.chain_id as "chainId", o.order_hash as "orderHash", o.position, o.contract_id as "contractId",
    traded.address as contract, o.standard, o.maker, o.unit_price_wei as "unitPriceWei",
    ${usdE8} as "unitPriceUsdE8", o.seller_net_wei as "sellerNetWei", o.quantity, o.filled,
    o.start_time as "startTime", o.end_time as "endTime", o.counter, o.fees, o.created_at as "createdAt",
    (extract(epoch from o.created_at) * 1000000)::bigint as "createdMicros",
    case when ${ended} then 'expired' else o.status end as status,
    case when ${ended} then null else o.reason end as reason,
    case when ${ended} then to_timestamp(o.end_time) else o.updated_at end as "updatedAt",
    coalesce(main.address, traded.address) as "collectionAddress", c.slug as "collectionSlug",
    c.name as "collectionName"`;
}

/** Names the contracts of row `o`. A contract that nobody registered is a collection without a name. */
export const naming = sql`
  left join log.contract traded on traded.contract_id = o.contract_id
  left join collections.member m on m.contract_id = o.contract_id
  left join collections.collection c on c.collection_id = coalesce(m.collection_id, o.contract_id)
  left join log.contract main on main.contract_id = c.collection_id`;

/** Hex as the database's bytes. */
export function bytes(hexes: readonly Hex[]): RawBuilder<unknown> {
  const digits = hexes.map((hex) => hex.slice(2));
  return sql`array(select decode(digits, 'hex') from unnest(${digits}::text[]) digits)`;
}
