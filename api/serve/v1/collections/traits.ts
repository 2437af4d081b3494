import { LRUCache } from "lru-cache";
import { z } from "zod";
import type { ChainId } from "../../../../abis/deployments.ts";
import { readPriceAt } from "../../../../projections/coin-prices/read.ts";
import type { Database } from "../../../../projections/database.ts";
import { reject } from "../../../../projections/domain/rejection.ts";
import { traitTypeKey } from "../../../../projections/domain/traits.ts";
import { readTraits } from "../../../../projections/reads/traits/read.ts";
import { nativeCoin } from "../../../../projections/sql/native-coin.ts";
import { presentTraits, presentTraitTypes, type TraitType, TraitTypes } from "../../views/trait.ts";
import { route } from "../context.ts";
import { chainId, chainRefusals, collectionKey, text } from "../parameters.ts";
import { noCollection, referTo } from "./reference.ts";

const maxAgeSeconds = 60;
/** Values of traits that are kept at most, of all collections together. */
const mostKept = 500_000;

export const traits = route(
  {
    method: "get",
    path: "/v1/collections/{collection}/traits",
    tag: "Collections",
    summary: "Traits of a collection's tokens: how many have each value, and what those cost",
    params: z.object({ collection: collectionKey }),
    query: z.object({
      chainId,
      type: text(200)
        .optional()
        .meta({ description: "Only this type, in any case. Types of numbers only are left out." }),
    }),
    data: TraitTypes,
    refuses: { not_found: 404, ...chainRefusals },
    maxAgeSeconds,
  },
  async ({ params, query }, { db, siteUrl, market, now }) => {
    const collection = await referTo(db, query.chainId, params.collection);
    if (collection === null) return noCollection(query.chainId, params.collection);
    const { contractIds } = collection;
    const asked = { chainId: query.chainId, contractIds, prefix: market.prefix, now: now() };
    const all = await traitsOf(db).fetch(contractIds.join(), { context: asked });
    if (all === undefined) throw new Error("the traits were not read");
    const { type } = query;
    const wanted =
      type === undefined ? all : all.filter((one) => traitTypeKey(one.type) === traitTypeKey(type));
    if (type !== undefined && wanted.length === 0) {
      return reject("not_found", `No trait ${type} in ${params.collection} on ${query.chainId}`);
    }
    return { data: presentTraits(collection, { siteUrl, chainId: query.chainId }, wanted) };
  },
);

type Asked = { chainId: ChainId; contractIds: readonly number[]; prefix: string; now: Date };
type Kept = LRUCache<string, TraitType[], Asked>;

const caches = new WeakMap<Database, Kept>();

/** One look at the database for all who ask for traits at the same time, and for as long as they may be kept. */
export function traitsOf(db: Database): Kept {
  const known = caches.get(db);
  if (known !== undefined) return known;
  const kept: Kept = new LRUCache({
    maxSize: mostKept,
    sizeCalculation: (types) => types.reduce((sum, { values }) => sum + values.length, 1),
    ttl: maxAgeSeconds * 1_000,
    fetchMethod: (_key, _stale, { context }) => readAll(db, context),
  });
  caches.set(db, kept);
  return kept;
}

async function readAll(db: Database, { chainId, contractIds, prefix, now }: Asked) {
  const coinPriceE8 = await readPriceAt(db, nativeCoin[chainId], now);
  return presentTraitTypes(await readTraits(db, contractIds, now), prefix, coinPriceE8);
}
