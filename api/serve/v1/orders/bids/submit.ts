import { z } from "zod";
import { isRejection } from "../../../../../projections/domain/rejection.ts";
import { orderId } from "../../../../work/orders/order-id.ts";
import { hash } from "../../../views/wire.ts";
import { route } from "../../context.ts";
import {
  admitOne,
  orderStatusName,
  refusalsOf,
  singleBody,
  singleBodyBytes,
} from "../submission.ts";

export const submitBid = route(
  {
    method: "post",
    path: "/v1/orders/bids",
    tag: "Orders",
    summary:
      "Puts a signed offer into the book; one that is there already is answered as it stands",
    body: singleBody,
    data: z.object({ bidId: z.string(), orderHash: hash, status: orderStatusName }),
    successes: { 201: "In the book" },
    refuses: refusalsOf("bid"),
    maxBodyBytes: singleBodyBytes,
  },
  async ({ body }, context) => {
    const outcome = await admitOne("bid", body, context);
    if (isRejection(outcome)) return outcome;
    return { data: { bidId: orderId(context.market.prefix, outcome.orderHash), ...outcome } };
  },
);
