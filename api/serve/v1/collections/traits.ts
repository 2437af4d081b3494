import { z } from "zod";
import { isRejection, reject } from "#projections/domain/rejection.ts";
import { presentTraits, TraitTypes, traitsMeta } from "#api/serve/views/trait.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey } from "../routing/parameters.ts";
import { noCollection, referTo } from "./reference.ts";
import { maxTraitsAgeSeconds, traitsFields, traitsPage } from "./traits-page.ts";

export const traits = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/traits",
    operationId: "listTraits",
    tag: "Collections",
    loadClass: "lists",
    summary:
      "Traits of a collection's tokens: count, listings and floor price of each value. At most a minute old, the caller's cache included",
    params: z.object({ collection: collectionKey }),
    plansOnceWith: ["chainId", "cursor"],
    query: z.object({ chainId, ...traitsFields }),
    data: TraitTypes,
    meta: traitsMeta,
    refuses: { not_found: 404, ...chainRefusals, invalid_cursor: 422 },
    maxAgeSeconds: maxTraitsAgeSeconds,
  },
  async ({ params, query }, { db, siteUrl, market, now }) => {
    const collection = await referTo(db, query.chainId, params.collection);
    if (collection === null) return noCollection(query.chainId, params.collection);
    const asked = { chainId: query.chainId, contractIds: collection.contractIds };
    const page = await traitsPage(db, { ...asked, prefix: market.prefix, now: now() }, query);
    if (page === null) {
      return reject(
        "not_found",
        `No trait ${query.type} in ${params.collection} on chain ${query.chainId}`,
      );
    }
    if (isRejection(page)) return page;
    const { types, meta, maxAgeSeconds } = page;
    const data = presentTraits(collection, { siteUrl, chainId: query.chainId }, types);
    return { data, meta, maxAgeSeconds };
  },
);
