import { sql } from "kysely";
import type { Hex } from "viem";
import type { Database } from "#projections/log/database.ts";
import {
  type OrderEvent,
  type OrderTerms,
  readOrderEvents,
} from "#projections/orders/read-order-events.ts";

/** The book of who knows the events alone: active orders by hash and chain, and prices by side and contract. */
export type ToldBook = {
  readonly orders: Map<string, string>;
  readonly prices: Map<string, string>;
};

const emptyBook = (): ToldBook => ({ orders: new Map(), prices: new Map() });

/** Applies events as a follower does: an active order is what its event says, any other is gone. */
function applyEvents({ orders, prices }: ToldBook, events: readonly OrderEvent[]): void {
  for (const { type, chainId, side, contract, orderHash, status, terms } of events) {
    if (type === "floor_changed" || type === "best_bid_changed") {
      const key = `${side} ${chainId} ${contract}`;
      if (terms.priceWei === undefined) prices.delete(key);
      else prices.set(key, terms.priceWei);
    } else if (status === "active") {
      orders.set(`${orderHash} ${chainId}`, textOf(side, contract, terms));
    } else orders.delete(`${orderHash} ${chainId}`);
  }
}

const termNames = [
  ...[
    "tokenId",
    "standard",
    "maker",
    "currency",
    "marketplace",
    "kind",
    "priceWei",
    "sellerNetWei",
  ],
  ...["criteria", "quantity", "filled", "available", "isBuyable", "startTime", "endTime"],
] as const;

const textOf = (side: string, contract: string, terms: Partial<OrderTerms>): string =>
  [side, contract, ...termNames.map((name) => terms[name as keyof OrderTerms])].join(" ");

/** What the tables hold, in the same words. */
export async function readBook(db: Database): Promise<ToldBook> {
  const { rows } = await sql<Row>`
    select 'ask' as side, k.address as contract, o.chain_id as "chainId", o.order_hash as "orderHash", o.token_id as "tokenId",
           o.standard, o.maker, o.currency, o.marketplace, 'single-token' as kind, o.unit_price_wei as "priceWei",
           o.seller_net_wei as "sellerNetWei", null::bytea as criteria, o.quantity, o.filled, o.fillable as available, o.is_buyable as "isBuyable",
           o.start_time as "startTime", o.end_time as "endTime", o.position
    from listings.listing o join log.contract k using (contract_id) where o.status = 'active'
    union all
    select 'bid', k.address, o.chain_id, o.order_hash, o.token_id, o.standard, o.maker, o.currency, 'native', o.kind,
           o.unit_price_wei, o.seller_net_wei, o.criteria, o.quantity, o.filled, o.quantity - o.filled, true, o.start_time, o.end_time,
           o.position
    from bids.bid o join log.contract k using (contract_id) where o.status = 'active'`.execute(db);
  const book = emptyBook();
  for (const { side, contract, chainId, orderHash, ...terms } of rows)
    book.orders.set(
      `${orderHash} ${chainId}`,
      [side, contract, ...termNames.map((name) => terms[name])].join(" "),
    );
  const best = rows
    .filter(({ side, kind }) => side === "ask" || kind === "collection")
    .toSorted((one, other) => compareBest(one, other));
  for (const { side, chainId, contract, priceWei } of best)
    book.prices.set(`${side} ${chainId} ${contract}`, String(priceWei));
  return book;
}

type Row = Record<(typeof termNames)[number], unknown> & {
  side: "ask" | "bid";
  contract: string;
  chainId: number;
  orderHash: Hex;
  priceWei: bigint;
  sellerNetWei: bigint;
  position: bigint;
};

/** The best last. */
function compareBest(one: Row, other: Row): number {
  const rank =
    one.side === "ask" ? other.priceWei - one.priceWei : one.sellerNetWei - other.sellerNetWei;
  return Number(rank === 0n ? other.position - one.position : rank);
}

/** A follower of all chains: reads on from where it was. */
export function openBookFollower(db: Database) {
  const book = emptyBook();
  let after = 0n;
  let events = 0;
  return {
    book,
    get events() {
      return events;
    },
    /** Up to a position. */
    async follow(upTo: bigint): Promise<readonly OrderEvent[]> {
      const told = await readOrderEvents(db, { after, upTo }, [1, 33139]);
      applyEvents(book, told);
      events += told.length;
      if (upTo > after) after = upTo;
      return told;
    },
  };
}
