import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { readCollectionKeys } from "#projections/collections/read-collections.ts";
import { cutPage, pageFields, pageMeta, pageOf, pageRefusals, pickFields, rowFields } from "#api/http/page.ts";
import { Collection, collectionPartsOf, presentCollection } from "#api/serve/views/collection.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, excludeWash, flag, text } from "../routing/parameters.ts";
import { keyOfRanked, rankingKey, viewRanked } from "./ranked-page.ts";

export const listCollections = route(
  {
    method: "get",
    path: "/v1/collections",
    operationId: "listCollections",
    tag: "Collections",
    loadClass: "lists",
    plansOnceWith: [
      ...["chainId", "period", "sort", "direction", "exclude_wash", "fields"],
      ...Object.keys(pageFields),
    ],
    summary: "Collections, sorted by a statistic",
    query: z.object({
      chainId,
      period: z
        .enum(["24h", "7d", "30d"])
        .default("24h")
        .meta({ description: "Period of volume, sales and change." }),
      sort: z
        .enum(["volume", "floor", "sales", "listed", "supply", "holders", "change"])
        .default("volume"),
      direction: z.enum(["asc", "desc"]).default("desc"),
      search: text(100)
        .optional()
        .meta({ description: "Part of a name, slug or address, case-insensitive." }),
      verified: flag.optional(),
      exclude_wash: excludeWash,
      fields: rowFields(Collection),
      ...pageFields,
    }),
    data: z.array(Collection),
    meta: pageMeta,
    refuses: { ...chainRefusals, ...pageRefusals },
    isCacheable: true,
  },
  async ({ query }, { db, siteUrl, media, market, now }) => {
    const { sort, direction, period, fields } = query;
    const order = { sort, direction, period, excludesWash: query.exclude_wash };
    const filter = {
      chainId: query.chainId,
      search: query.search || null,
      verified: query.verified ?? null,
    };
    const scope = { list: "collections", ...order, ...filter };
    const request = pageOf(query, scope, rankingKey);
    if (isRejection(request)) return request;
    const { keys, total } = await readCollectionKeys(db, filter, order, request.read);
    const { shown, meta } = cutPage(request, keys, keyOfRanked);
    const links = { ...media, isList: true };
    const parts = collectionPartsOf(fields);
    const views = await viewRanked(db, shown, {
      chainId: query.chainId,
      now: now(),
      parts,
      variant: JSON.stringify(["v1", period, siteUrl, media, fields && [...fields]]),
      present: (row, coinPriceE8) =>
        pickFields(
          presentCollection(row, [period], {
            ...{ siteUrl, prefix: market.prefix, coinPriceE8, media: links },
          }),
          fields,
        ),
    });
    return {
      data: views,
      meta: { chainId: query.chainId, total: Number(total), ...meta },
    };
  },
);
