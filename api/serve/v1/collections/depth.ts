import { zeroAddress } from "viem";
import { z } from "zod";
import { readBidDepth, readListingDepth } from "#projections/orders/read-depth.ts";
import { LinkedCollection, presentLinkedCollection } from "#api/serve/views/linked-collection.ts";
import { presentCurrency } from "#api/serve/views/money.ts";
import { depthFields, presentAskDepth, presentBidDepth } from "#api/serve/views/orders/depth.ts";
import { currency } from "#api/serve/views/wire.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey } from "../routing/parameters.ts";
import { noCollection, referTo } from "./reference.ts";

const levels = z
  .string()
  .regex(/^([1-9]\d?|1\d\d|200)$/, "must be a whole number from 1 to 200")
  .transform(Number)
  .default(50)
  .meta({
    description: "Prices of each side at most, the best ones.",
    override: { type: "integer", minimum: 1, maximum: 200, default: 50, pattern: undefined },
  });

export const BookDepth = z
  .object({
    collection: LinkedCollection,
    currency,
    ...depthFields,
  })
  .meta({ id: "BookDepth" });

export const depth = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/depth",
    operationId: "getDepth",
    tag: "Collections",
    loadClass: "book",
    summary: "Order book of a collection by price: active listings, and bids on it and its tokens",
    params: z.object({ collection: collectionKey }),
    plansOnceWith: ["chainId", "levels"],
    query: z.object({ chainId, levels }),
    data: BookDepth,
    refuses: { not_found: 404, ...chainRefusals },
    isCacheable: true,
  },
  async ({ params, query: { chainId, levels } }, { db, siteUrl, now }) => {
    const collection = await referTo(db, chainId, params.collection);
    if (collection === null) return noCollection(chainId, params.collection);
    const { contractIds } = collection;
    const at = now();
    const [asks, bids] = await Promise.all([
      readListingDepth(db, contractIds, levels, at),
      readBidDepth(db, contractIds, levels, at),
    ]);
    return {
      data: {
        collection: presentLinkedCollection(collection, { siteUrl, chainId }),
        currency: presentCurrency(chainId, zeroAddress),
        listings: presentAskDepth(asks),
        bids: presentBidDepth(bids),
      },
    };
  },
);
