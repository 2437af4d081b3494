import { z } from "zod";
import { cursorRefusals, uncountedMeta } from "#api/http/page.ts";
import { ActivityItem } from "#api/serve/views/activity-item.ts";
import { noCollection, salesContracts } from "../collections/reference.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey, tokenId } from "../routing/parameters.ts";
import { activityFields, answerActivity } from "./page.ts";

export const tokenActivity = route(
  {
    operationId: "listTokenActivity",
    method: "get",
    path: "/v1/collections/{collection}/tokens/{tokenId}/activity",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "What happened to one token, newest first: sales, transfers, listings, offers on it and cancels. An address selects its contract, a slug all of the collection's",
    params: z.object({ collection: collectionKey, tokenId }),
    query: z.object({ chainId, ...activityFields }),
    data: z.array(ActivityItem),
    meta: uncountedMeta,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ params: { collection, tokenId }, query }, context) => {
    const { chainId } = query;
    const contractIds = await salesContracts(context.db, { chainId, collection });
    if (contractIds === undefined) return noCollection(chainId, collection);
    return answerActivity({ ...query, contractIds, tokenId }, context);
  },
);
