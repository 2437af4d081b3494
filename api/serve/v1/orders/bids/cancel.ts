import { z } from "zod";
import { route } from "../../context.ts";
import { bidId } from "../../parameters.ts";
import { cancelRefusals, refuseCancel } from "../cancel-on-chain.ts";

export const bidCancel = route(
  {
    method: "post",
    path: "/v1/orders/bids/{bidId}/cancel",
    tag: "Orders",
    summary: "Always refused: offers are cancelled on the chain by their makers",
    params: z.object({ bidId }),
    data: z.null(),
    refuses: cancelRefusals,
  },
  refuseCancel,
);
