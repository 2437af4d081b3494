import { z } from "zod";
import { isRejection } from "#projections/domain/rejection.ts";
import { readCollectionKeys } from "#projections/collections/read-collections.ts";
import { keyOfRanked, rankingKey, viewRanked } from "#api/serve/v1/collections/ranked-page.ts";
import { excludeWash, text } from "#api/serve/v1/routing/parameters.ts";
import { type NftDataRoute, route } from "../context.ts";
import { cutList, listFields, listMeta, listPageOf, listRefusals } from "../list-page.ts";
import { NftCollection, presentNftCollection } from "../views/objects.ts";

export const listCollections = route(
  {
    method: "get",
    path: "/api/collections",
    operationId: "listCollections",
    tag: "Collections",
    loadClass: "lists",
    summary: "Collections by their figures",
    query: z.object({
      search: text(100)
        .optional()
        .meta({ description: "Part of a name, slug or address, in any case." }),
      sort: z
        .enum(["volume", "floor", "sales", "listed", "supply", "holders", "change"])
        .default("volume"),
      direction: z.enum(["asc", "desc"]).default("desc"),
      period: z
        .enum(["24h", "7d", "30d"])
        .default("24h")
        .meta({ description: "Of volume, sales and change, where they are sorted by." }),
      exclude_wash: excludeWash,
      ...listFields,
    }),
    data: z.array(NftCollection),
    meta: listMeta,
    refuses: listRefusals,
  },
  async ({ query }, context) => {
    const { db, chainId } = context;
    const { sort, direction, period } = query;
    const order = { sort, direction, period, excludesWash: query.exclude_wash };
    const filter = { chainId, search: query.search || null, verified: null };
    const scope = { list: "account collections", ...order, ...filter };
    const request = listPageOf(query, scope, rankingKey);
    if (isRejection(request)) return request;
    const { keys } = await readCollectionKeys(db, filter, order, request.read);
    const { shown, meta } = cutList(request, keys, keyOfRanked);
    const data = await viewRanked(db, shown, {
      chainId,
      now: context.now(),
      variant: "account API",
      present: (row, coinPriceE8) =>
        presentNftCollection(row, context, { coinPriceE8, isList: true }),
    });
    return { data, meta };
  },
);

/** The same at the path that the interface's document names in one place. */
export const listCollectionsAlias: NftDataRoute = {
  ...listCollections,
  path: "/collections",
  operationId: "listCollectionsAlias",
};
