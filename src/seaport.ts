import { ponder } from "ponder:registry";
import { event as events } from "ponder:schema";
import { emitted } from "./emitted.ts";
import { lowerCase } from "./position.ts";

for (const source of ["Seaport", "SeaportLegacy"] as const) {
  ponder.on(`${source}:OrderFulfilled`, async ({ event, context }) => {
    const { from, to, input } = event.transaction;
    await context.db.insert(events).values({
      ...emitted(event, context.chain.id, source, "OrderFulfilled"),
      sender: lowerCase(from),
      target: to === null ? null : lowerCase(to),
      calldataTail: input.length >= 10 ? `0x${input.slice(-8)}` : null,
    });
  });
}

ponder.on("SeaportLegacy:OrdersMatched", async ({ event, context }) => {
  const row = emitted(event, context.chain.id, "SeaportLegacy", "OrdersMatched");
  await context.db.insert(events).values(row);
});

const orderEvents = [
  "OrderCancelled",
  "OrderValidated",
  "OrdersMatched",
  "CounterIncremented",
] as const;
for (const name of orderEvents) {
  ponder.on(`Seaport:${name}`, async ({ event, context }) => {
    await context.db.insert(events).values(emitted(event, context.chain.id, "Seaport", name));
  });
}
