import { z } from "zod";
import { route } from "../../context.ts";
import { askId } from "../../parameters.ts";
import { cancelRefusals, refuseCancel } from "../cancel-on-chain.ts";

export const askCancel = route(
  {
    method: "post",
    path: "/v1/orders/asks/{askId}/cancel",
    tag: "Orders",
    summary: "Always refused: listings are cancelled on the chain by their makers",
    params: z.object({ askId }),
    data: z.null(),
    refuses: cancelRefusals,
  },
  refuseCancel,
);
