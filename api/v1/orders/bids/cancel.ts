import { z } from "zod";
import { reject } from "../../../../projections/domain/rejection.ts";
import { route } from "../../context.ts";
import { bidId } from "../../parameters.ts";

export const bidCancel = route(
  {
    method: "post",
    path: "/v1/orders/bids/{bidId}/cancel",
    tag: "Orders",
    summary: "Always refused: offers are cancelled on the chain by their makers",
    params: z.object({ bidId }),
    data: z.null(),
    refuses: { bad_structure: 422, cancel_on_chain: 409 },
  },
  async () =>
    reject(
      "cancel_on_chain",
      "Only its maker can cancel an order, by the exchange's cancel or incrementCounter; then ask for a sync",
    ),
);
