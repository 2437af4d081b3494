import { z } from "zod";
import { reject } from "../../../../projections/domain/rejection.ts";
import { route } from "../../context.ts";
import { askId } from "../../parameters.ts";

export const askCancel = route(
  {
    method: "post",
    path: "/v1/orders/asks/{askId}/cancel",
    tag: "Orders",
    summary: "Always refused: listings are cancelled on the chain by their makers",
    params: z.object({ askId }),
    data: z.null(),
    refuses: { bad_structure: 422, cancel_on_chain: 409 },
  },
  async () =>
    reject(
      "cancel_on_chain",
      "Only its maker can cancel an order, by the exchange's cancel or incrementCounter; then ask for a sync",
    ),
);
