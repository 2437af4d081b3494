import type { Address } from "viem";
import { activity, collection, collectionHour, order, sale } from "../ponder.schema.ts";
import { placeOf } from "./place.ts";
import { type Context, ponder } from "./registry.ts";
import { tradeOf } from "./trade.ts";

const hourSeconds = 3_600n;

ponder.on("Exchange:OrderFulfilled", async ({ event, context }) => {
  const { orderHash, offerer } = event.args;
  const updatedAt = event.block.timestamp;
  await context.db
    .insert(order)
    .values({ hash: orderHash, maker: offerer, status: "filled", updatedAt })
    .onConflictDoUpdate({ status: "filled", updatedAt });
  const trade = tradeOf(event.args);
  if (trade === null) return;

  const place = placeOf(event);
  for (const [index, nft] of trade.nfts.entries()) {
    const id = `${event.id}-${index}`;
    const { price, seller, buyer } = trade;
    await context.db.insert(sale).values({
      ...{ ...nft, ...trade.terms, ...place, id, price, seller, buyer, orderHash },
      exchange: event.log.address,
      blockHash: event.block.hash,
      logIndex: event.log.logIndex,
    });
    await context.db.insert(activity).values({
      ...{ ...nft, ...place, id, price, orderHash },
      ...{ type: "sale", from: seller, to: buyer },
    });
    await countSale(context, nft.collection, price, event.block.timestamp);
  }
});

async function countSale(
  { db }: Context,
  address: Address,
  price: bigint,
  timestamp: bigint,
): Promise<void> {
  const first = { sales: 1, volume: price };
  const add = (row: typeof first) => ({ sales: row.sales + 1, volume: row.volume + price });
  await db
    .insert(collection)
    .values({ address, supply: 0, holders: 0, ...first, lastSaleAt: timestamp })
    .onConflictDoUpdate((row) => ({ ...add(row), lastSaleAt: timestamp }));
  const hour = timestamp - (timestamp % hourSeconds);
  await db
    .insert(collectionHour)
    .values({ collection: address, hour, ...first })
    .onConflictDoUpdate(add);
}
