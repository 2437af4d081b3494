import { type FeedOptions, openFeed } from "./feed.ts";
import type { FeedSource, MarketEvent } from "./transport.ts";

export type BookOptions = Omit<FeedOptions, "types" | "wallet" | "delivery"> & {
  /** The orders that `orders` held at `after`. Default: none, and `after` is `0-0`. */
  readonly orders?: Iterable<MarketEvent>;
};

/**
 * The order book as its events tell it: each is handed out once it is applied. Keep `position` and the values of `orders`
 * together to go on later.
 */
export type Book = AsyncIterable<MarketEvent> & {
  /** The last event of each active order, by its hash: all that is known of it. */
  readonly orders: ReadonlyMap<string, MarketEvent>;
  /** Active listings or bids that have not ended at a time (default: now): an end is reported some seconds later. */
  active(side: "ask" | "bid", at?: Date): MarketEvent[];
  /** As of a feed. */
  readonly position: string | undefined;
};

const types = [
  ...(["order_activated", "order_updated", "order_invalidated", "order_superseded"] as const),
  ...(["order_filled", "order_cancelled", "order_expired", "order_removed"] as const),
];

export function openBook(
  source: FeedSource,
  { orders: given = [], ...options }: BookOptions,
): Book {
  const orders = new Map<string, MarketEvent>();
  const feed = openFeed(source, { after: "0-0", ...options, types });
  const apply = (event: MarketEvent) => {
    if (event.orderHash === null) return;
    if (event.order?.status === "active") orders.set(event.orderHash, event);
    else orders.delete(event.orderHash);
  };
  for (const event of given) apply(event);

  async function* events(): AsyncGenerator<MarketEvent> {
    for await (const event of feed) {
      apply(event);
      yield event;
    }
  }
  return {
    orders,
    active: (side, at = new Date()) =>
      [...orders.values()].filter(
        (one) => one.side === side && (one.expiresAt === null || new Date(one.expiresAt) > at),
      ),
    get position() {
      return feed.position;
    },
    [Symbol.asyncIterator]: events,
  };
}
