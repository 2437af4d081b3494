import { z } from "zod";
import { chainById } from "#chains/index.ts";
import { readPriceAt } from "#projections/prices/read-prices.ts";
import { readCollection } from "#projections/collections/read-collections.ts";
import { Collection, presentCollection } from "#api/serve/views/collection.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey } from "../routing/parameters.ts";
import { noCollection, notCovered, referTo } from "./reference.ts";

export const collection = route(
  {
    method: "get",
    path: "/v1/collections/{collection}",
    operationId: "getCollection",
    tag: "Collections",
    summary: "One collection with its statistics",
    params: z.object({ collection: collectionKey }),
    plansOnceWith: ["chainId"],
    query: z.object({ chainId }),
    data: Collection,
    refuses: { not_found: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ params, query }, { db, siteUrl, media, market, now }) => {
    const found = await referTo(db, query.chainId, params.collection);
    if (found === null) return noCollection(query.chainId, params.collection);
    const at = now();
    const [row, coinPriceE8] = await Promise.all([
      readCollection(db, found.collectionId, at),
      readPriceAt(db, chainById(query.chainId).coin, at),
    ]);
    if (row === null) return notCovered(query.chainId, found);
    const links = { ...media, isList: false };
    const view = { siteUrl, prefix: market.prefix, coinPriceE8, media: links };
    return { data: presentCollection(row, ["24h", "7d", "30d", "all"], view) };
  },
);
