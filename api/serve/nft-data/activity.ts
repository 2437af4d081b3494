import { z } from "zod";
import { activityFields, activityRefusals, listActivity } from "./activity-page.ts";
import { route } from "./context.ts";
import { listMeta } from "./list-page.ts";
import { address } from "./parameters.ts";
import { NftActivityItem } from "./views/objects.ts";

export const activity = route(
  {
    method: "get",
    path: "/api/activity",
    operationId: "listActivity",
    tag: "Activity",
    loadClass: "lists",
    summary: "Sales, transfers, mints, burns, listings, offers and cancels, newest first",
    query: z.object({
      ...activityFields,
      wallet: address.optional().meta({ description: "Only events that involve this wallet." }),
    }),
    data: z.array(NftActivityItem),
    meta: listMeta,
    refuses: activityRefusals,
  },
  ({ query }, context) => listActivity(query, context),
);
