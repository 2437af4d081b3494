import { z } from "zod";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { cursorRefusals, pageFields, uncountedMeta } from "../../http/page.ts";
import { ActivityItem, presentActivity } from "../../views/activity-item.ts";
import { noCollection, salesContracts } from "../collections/reference.ts";
import { route } from "../routing/context.ts";
import {
  activityTypeList,
  chainId,
  chainRefusals,
  collectionKey,
  since,
  wallet,
} from "../routing/parameters.ts";
import { activityDescriptions, readActivityPage } from "./page.ts";

const { per_page, cursor } = pageFields;

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
      type: activityTypeList.optional(),
      collection: collectionKey
        .optional()
        .meta({ description: `Slug or 0x address. ${activityDescriptions.collection}` }),
      wallet: wallet.optional().meta({ description: "Only events that involve this wallet." }),
      since: since.optional(),
      cursor,
      per_page: per_page.meta({
        description: activityDescriptions.perPage,
        override: { type: "integer", minimum: 1, maximum: 100, default: 50, pattern: undefined },
      }),
    }),
    data: z.array(ActivityItem),
    meta: uncountedMeta,
    refuses: { not_found: 404, ...chainRefusals, ...cursorRefusals },
    isCacheable: true,
  },
  async ({ query }, { db, siteUrl, market: { prefix } }) => {
    const { chainId, collection, per_page: limit, ...filter } = query;
    const contractIds = await salesContracts(db, { chainId, collection });
    if (contractIds === undefined) return noCollection(chainId, collection);
    const page = await readActivityPage(db, { ...filter, chainId, contractIds, limit });
    if (isRejection(page)) return page;
    const context = { siteUrl, prefix, chainId };
    return {
      data: page.rows.map((row) => presentActivity(row, context)),
      meta: { chainId, per_page: limit, next_cursor: page.nextCursor },
    };
  },
);
