import { activity, maker, order } from "../ponder.schema.ts";
import { placeOf } from "./place.ts";
import { ponder } from "./registry.ts";

ponder.on("Exchange:OrderValidated", async ({ event, context }) => {
  const { orderHash, orderParameters } = event.args;
  const { offerer, offer, consideration } = orderParameters;
  const known = await context.db.find(maker, { address: offerer });
  const terms = {
    collection: offer[0]?.token ?? null,
    tokenId: offer[0]?.identifierOrCriteria ?? null,
    price: consideration.reduce((sum, { startAmount }) => sum + startAmount, 0n),
    counter: known?.counter ?? 0n,
    updatedAt: event.block.timestamp,
  };
  await context.db
    .insert(order)
    .values({ hash: orderHash, maker: offerer, status: "active", ...terms })
    .onConflictDoUpdate(terms);
});

ponder.on("Exchange:OrderCancelled", async ({ event, context }) => {
  const { orderHash, offerer } = event.args;
  const state = { status: "cancelled", updatedAt: event.block.timestamp };
  await context.db
    .insert(order)
    .values({ hash: orderHash, maker: offerer, ...state })
    .onConflictDoUpdate(state);
  await context.db
    .insert(activity)
    .values({ id: event.id, type: "cancel", from: offerer, orderHash, ...placeOf(event) });
});

/** Reads compare an order's counter with its maker's, so none of the maker's orders is updated here. */
ponder.on("Exchange:CounterIncremented", async ({ event, context }) => {
  const { offerer, newCounter } = event.args;
  await context.db
    .insert(maker)
    .values({ address: offerer, counter: newCounter })
    .onConflictDoUpdate({ counter: newCounter });
  await context.db
    .insert(activity)
    .values({ id: event.id, type: "cancel", from: offerer, ...placeOf(event) });
});
