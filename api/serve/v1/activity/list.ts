import { z } from "zod";
import { cursorRefusals, uncountedMeta } from "#api/http/page.ts";
import { ActivityItem } from "#api/serve/views/activity-item.ts";
import { noCollection, salesContracts } from "../collections/reference.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey, wallet } from "../routing/parameters.ts";
import { activityDescriptions, activityFields, answerActivity } from "./page.ts";

const { type, ...otherFields } = activityFields;

export const listActivity = route(
  {
    method: "get",
    path: "/v1/activity",
    operationId: "listActivity",
    tag: "Activity",
    loadClass: "lists",
    summary: "Sales, transfers, mints, burns, listings, offers and cancels, newest first",
    query: z.object({
      chainId,
      type,
      collection: collectionKey
        .optional()
        .meta({ description: `Slug or 0x address. ${activityDescriptions.collection}` }),
      wallet: wallet.optional().meta({ description: "Only events that involve this wallet." }),
      ...otherFields,
    }),
    data: z.array(ActivityItem),
    meta: uncountedMeta,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ query: { collection, ...query } }, context) => {
    const contractIds = await salesContracts(context.db, { chainId: query.chainId, collection });
    if (contractIds === undefined) return noCollection(query.chainId, collection);
    return answerActivity({ ...query, contractIds }, context);
  },
);
