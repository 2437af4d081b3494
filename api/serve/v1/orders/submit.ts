import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { orderId } from "#api/orders/order-id.ts";
import { hash } from "#api/serve/views/wire.ts";
import { route } from "../routing/context.ts";
import { asks, bids, type Side } from "./sides.ts";
import { admitOne, orderStatusName, refusalsOf, singleBody, singleBodyLimits } from "./submission.ts";

const submitted = { orderHash: hash, status: orderStatusName };
type Submitted = z.output<z.ZodObject<typeof submitted>>;

/** `present` adds the id under the side's own name. */
const submitOrder = <Schema extends z.ZodType>(
  side: Side,
  data: Schema,
  present: (id: string, order: Submitted) => z.output<Schema>,
) =>
  route(
    {
      method: "post",
      path: side.path,
      operationId: `submit${side.name}`,
      tag: "Orders",
      loadClass: "orders",
      summary: `Submits a signed ${side.noun}. One that was submitted before returns its current status`,
      body: singleBody,
      data,
      successes: { 201: "In the order book" },
      refuses: refusalsOf(side),
      bodyLimits: singleBodyLimits,
    },
    async ({ body, ...from }, context) => {
      const outcome = await admitOne(side, { body, from }, context);
      if (isRejection(outcome)) return outcome;
      return { data: present(orderId(context.market.prefix, outcome.orderHash), outcome) };
    },
  );

export const submitAsk = submitOrder(
  asks,
  z.object({ askId: z.string(), ...submitted }),
  (askId, order) => ({ askId, ...order }),
);
export const submitBid = submitOrder(
  bids,
  z.object({ bidId: z.string(), ...submitted }),
  (bidId, order) => ({ bidId, ...order }),
);
