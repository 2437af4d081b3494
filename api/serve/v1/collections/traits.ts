import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { ChainId } from "../../../../abis/deployments.ts";
import type { Database } from "../../../../projections/database.ts";
import { reject } from "../../../../projections/domain/rejection.ts";
import { traitTypeKey } from "../../../../projections/domain/traits.ts";
import { readPriceAt } from "../../../../projections/reads/coin-prices/read-prices.ts";
import { readTraits } from "../../../../projections/reads/traits/read-traits.ts";
import { nativeCoin } from "../../../../projections/sql/native-coin.ts";
import { presentTraits, presentTraitTypes, type TraitType, TraitTypes } from "../../views/trait.ts";
import { route } from "../routing/context.ts";
import { chainId, chainRefusals, collectionKey, text } from "../routing/parameters.ts";
import { noCollection, referTo } from "./reference.ts";

const maxAgeSeconds = 60;
/** Most trait values in the cache, of all collections. */
const maxCachedValues = 500_000;

export const traits = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/traits",
    tag: "Collections",
    summary: "Traits of a collection's tokens: count, listings and floor price of each value",
    params: z.object({ collection: collectionKey }),
    query: z.object({
      chainId,
      type: text(200).optional().meta({
        description: "Only this type, case-insensitive. Purely numeric types are not included.",
      }),
    }),
    data: TraitTypes,
    refuses: { not_found: 404, ...chainRefusals },
    maxAgeSeconds,
  },
  async ({ params, query }, { db, siteUrl, market, now }) => {
    const collection = await referTo(db, query.chainId, params.collection);
    if (collection === null) return noCollection(query.chainId, params.collection);
    const { contractIds } = collection;
    const request = { chainId: query.chainId, contractIds, prefix: market.prefix, now: now() };
    const all = await traitsOf(db).fetch(contractIds.join(), { context: request });
    if (all === undefined) throw new Error("the cache returned no traits");
    const { type } = query;
    const selected =
      type === undefined ? all : all.filter((one) => traitTypeKey(one.type) === traitTypeKey(type));
    if (type !== undefined && selected.length === 0) {
      return reject("not_found", `No trait ${type} in ${params.collection} on ${query.chainId}`);
    }
    return { data: presentTraits(collection, { siteUrl, chainId: query.chainId }, selected) };
  },
);

type TraitsRequest = {
  chainId: ChainId;
  contractIds: readonly number[];
  prefix: string;
  now: Date;
};
type TraitCache = LRUCache<string, TraitType[], TraitsRequest>;

const caches = new WeakMap<Database, TraitCache>();

/** Concurrent requests share one read, which is cached for `maxAgeSeconds`. */
export function traitsOf(db: Database): TraitCache {
  const known = caches.get(db);
  if (known !== undefined) return known;
  const cache: TraitCache = new LRUCache({
    maxSize: maxCachedValues,
    sizeCalculation: (types) => types.reduce((sum, { values }) => sum + values.length, 1),
    ttl: maxAgeSeconds * 1_000,
    fetchMethod: (_key, _stale, { context }) => readAll(db, context),
  });
  caches.set(db, cache);
  return cache;
}

async function readAll(db: Database, { chainId, contractIds, prefix, now }: TraitsRequest) {
  const coinPriceE8 = await readPriceAt(db, nativeCoin[chainId], now);
  return presentTraitTypes(await readTraits(db, contractIds, now), prefix, coinPriceE8);
}
