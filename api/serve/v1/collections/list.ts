import { z } from "zod";
import { isRejection } from "../../../../projections/domain/rejection.ts";
import { readPriceAt } from "../../../../projections/reads/coin-prices/read-prices.ts";
import type { CollectionRow } from "../../../../projections/reads/collections/collection-row.ts";
import type { CollectionKey } from "../../../../projections/reads/collections/page-keys.ts";
import { readCollections } from "../../../../projections/reads/collections/read-collections.ts";
import { nativeCoin } from "../../../../projections/sql/native-coin.ts";
import {
  cursorInteger,
  cutPage,
  pageFields,
  pageMeta,
  pageOf,
  pageRefusals,
} from "../../http/page.ts";
import { rowFields, withFields } from "../../http/row-fields.ts";
import { Collection, collectionPartsOf, presentCollection } from "../../views/collection.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, excludeWash, flag, text } from "../routing/parameters.ts";

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
    const request = pageOf(query, scope, collectionKey);
    if (isRejection(request)) return request;
    const at = now();
    const [{ rows, total }, coinPriceE8] = await Promise.all([
      readCollections(db, filter, order, request.read, at, collectionPartsOf(fields)),
      readPriceAt(db, nativeCoin[query.chainId], at),
    ]);
    const links = { ...media, isList: true };
    const view = { siteUrl, prefix: market.prefix, coinPriceE8, media: links };
    const { shown, meta } = cutPage(request, rows, keyOf);
    return {
      data: withFields(
        shown.map((row) => presentCollection(row, [period], view)),
        fields,
      ),
      meta: { chainId: query.chainId, total: Number(total), ...meta },
    };
  },
);

/** Digits: a sum of wei is unbounded; an id is an integer column. */
const collectionKey = z
  .tuple([cursorInteger(100), cursorInteger(9)])
  .transform(([sortKey, id]): CollectionKey => ({ sortKey, collectionId: Number(id) }));

function keyOf({ sortKey, collectionId }: CollectionRow) {
  return [sortKey, collectionId];
}
