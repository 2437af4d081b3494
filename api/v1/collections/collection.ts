import { z } from "zod";
import { readCollections } from "../../../projections/collections/read.ts";
import { route } from "../context.ts";
import { chainId, chainRefusals, collectionKey } from "../parameters.ts";
import { Collection, presentCollection } from "../views/collection.ts";
import { ownCurrencies } from "../views/money.ts";
import { noCollection, referTo } from "./reference.ts";

export const collection = route(
  {
    method: "get",
    path: "/v1/collections/{collection}",
    tag: "Collections",
    summary: "One collection with its figures",
    params: z.object({ collection: collectionKey }),
    query: z.object({ chainId }),
    data: Collection,
    refuses: { not_found: 404, ...chainRefusals },
  },
  async ({ params, query }, { db, siteUrl, now }) => {
    const found = await referTo(db, query.chainId, params.collection);
    if (found === null) return noCollection(query.chainId, params.collection);
    const { rows } = await readCollections(
      db,
      { chainId: query.chainId, collectionId: found.collectionId, search: null, verified: null },
      { sort: "listed", direction: "desc", period: "24h" },
      { now: now(), currencies: ownCurrencies(query.chainId) },
      { limit: 1, offset: 0, after: null },
    );
    const [row] = rows;
    if (row === undefined) return noCollection(query.chainId, params.collection);
    return { data: presentCollection(row, ["24h", "7d", "30d", "all"], siteUrl) };
  },
);
