import { ponder } from "ponder:registry";
import { event as events } from "ponder:schema";
import { emitted } from "./emitted.ts";

ponder.on("ConduitApproval:ApprovalForAll", async ({ event, context }) => {
  const row = emitted(event, context.chain.id, "ConduitApproval", "ApprovalForAll");
  await context.db.insert(events).values(row);
});

ponder.on("ExchangeApproval:Approval", async ({ event, context }) => {
  const row = emitted(event, context.chain.id, "ExchangeApproval", "Approval");
  await context.db.insert(events).values(row);
});

ponder.on("Conduit:ChannelUpdated", async ({ event, context }) => {
  const row = emitted(event, context.chain.id, "Conduit", "ChannelUpdated");
  await context.db.insert(events).values(row);
});
