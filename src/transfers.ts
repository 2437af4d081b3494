import { ponder } from "ponder:registry";
import { event as events } from "ponder:schema";
import { emitted } from "./emitted.ts";

for (const name of ["Transfer", "ConsecutiveTransfer"] as const) {
  ponder.on(`Erc721:${name}`, async ({ event, context }) => {
    await context.db.insert(events).values(emitted(event, context.chain.id, "Erc721", name));
  });
}

for (const name of ["TransferSingle", "TransferBatch"] as const) {
  ponder.on(`Erc1155:${name}`, async ({ event, context }) => {
    await context.db.insert(events).values(emitted(event, context.chain.id, "Erc1155", name));
  });
}
