import { sql } from "kysely";
import type { Address, Hex } from "viem";
import type { OrderStatus } from "../domain/orders/order-status.ts";
import type { Database } from "../log/database.ts";

/** What is reported of an order. The first event of an order is the first of these; what was never active is not told. */
const orderEventTypes = [
  "order_activated",
  "order_updated",
  "order_invalidated",
  "order_superseded",
  "order_filled",
  "order_cancelled",
  "order_expired",
  "order_removed",
] as const;
/** What is reported of the orders of a contract. */
const priceEventTypes = ["floor_changed", "best_bid_changed"] as const;
export const bookEventTypes = [...orderEventTypes, ...priceEventTypes] as const;

/** An order as an event tells it. Wei are per unit; times are unix seconds. Numbers are decimal text. */
export type OrderTerms = {
  readonly tokenId: string | null;
  readonly standard: 721 | 1155;
  readonly maker: Address;
  /** null: the native currency. */
  readonly currency: Address | null;
  readonly marketplace: string;
  readonly kind: string;
  /** Of bids: the root of the tokens that one on traits or on a list of tokens is on. */
  readonly criteria?: Hex | null;
  readonly priceWei: string;
  readonly sellerNetWei: string;
  readonly quantity: string;
  readonly filled: string;
  /** Units that can be filled while it is active. */
  readonly available: string;
  readonly isBuyable: boolean;
  readonly startTime: string;
  readonly endTime: string;
  readonly fees: readonly { recipient: Address; unitWei: string; kind: string }[];
};

/** An event of the book, with its place in the feed. `terms` of a price are those of the order that makes it; empty: none does. */
export type OrderEvent = {
  readonly position: bigint;
  readonly ordinal: number;
  readonly chainId: number;
  readonly type: (typeof bookEventTypes)[number];
  readonly side: "ask" | "bid";
  readonly contract: Address;
  readonly orderHash: Hex | null;
  /** Of a price, and of an order that is not in the tables any more: null. */
  readonly status: OrderStatus | null;
  readonly reason: string | null;
  readonly terms: Partial<OrderTerms> & { readonly previousPriceWei?: string | null };
  /** Of the latest fact that the state depends on. */
  readonly happenedAt: Date;
};

/** Events of the book with after < position ≤ upTo, in their order. They never change. */
export async function readOrderEvents(
  db: Database,
  { after, upTo }: { after: bigint; upTo: bigint },
  chainIds: readonly number[],
): Promise<OrderEvent[]> {
  const { rows } = await sql<OrderEvent>`
    select e.position, e.ordinal, e.chain_id as "chainId", e.type, e.side, k.address as contract, e.order_hash as "orderHash",
           e.status, e.reason, e.terms, e.happened_at as "happenedAt"
    from engine.order_event e join log.contract k using (contract_id)
    where e.position > ${after} and e.position <= ${upTo} and e.chain_id = any (${chainIds}::int[])
    order by e.position, e.ordinal`.execute(db);
  return rows;
}
