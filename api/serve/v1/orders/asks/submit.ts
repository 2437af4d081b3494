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

export const submitAsk = route(
  {
    method: "post",
    path: "/v1/orders/asks",
    tag: "Orders",
    summary:
      "Puts a signed listing into the book; one that is there already is answered as it stands",
    body: singleBody,
    data: z.object({ askId: z.string(), orderHash: hash, status: orderStatusName }),
    successes: { 201: "In the book" },
    refuses: refusalsOf("ask"),
    maxBodyBytes: singleBodyBytes,
  },
  async ({ body }, context) => {
    const outcome = await admitOne("ask", body, context);
    if (isRejection(outcome)) return outcome;
    return { data: { askId: orderId(context.market.prefix, outcome.orderHash), ...outcome } };
  },
);
