import { z } from "zod";
import { activityFields, activityRefusals, listActivity } from "../activity-page.ts";
import { route } from "../context.ts";
import { listMeta } from "../list-page.ts";
import { address } from "../parameters.ts";
import { NftActivityItem } from "../views/objects.ts";

export const walletActivity = route(
  {
    method: "get",
    path: "/api/wallets/{address}/activity",
    operationId: "listWalletActivity",
    tag: "Wallets",
    loadClass: "lists",
    summary:
      "What a wallet gave, received, sold, bought, listed, offered and cancelled, newest first",
    params: z.object({ address }),
    query: z.object(activityFields),
    data: z.array(NftActivityItem),
    meta: listMeta,
    refuses: activityRefusals,
  },
  ({ params, query }, context) => listActivity({ ...query, wallet: params.address }, context),
);
