import { ponder } from "ponder:registry";
import { event as events } from "ponder:schema";
import { emitted } from "./emitted.ts";

for (const name of ["Transfer", "Deposit", "Withdrawal"] as const) {
  ponder.on(`WrappedNative:${name}`, async ({ event, context }) => {
    await context.db.insert(events).values(emitted(event, context.chain.id, "WrappedNative", name));
  });
}
