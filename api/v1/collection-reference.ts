import type { z } from "zod";
import type { ChainId } from "#chains/index.ts";
import { type CollectionRef, findCollection } from "#projections/collections/find-collection.ts";
import { type Rejection, reject } from "#projections/domain/rejection.ts";
import type { Database } from "#projections/log/database.ts";
import { versionCache } from "../http/reads/cache.ts";
import { collectionUrls, presentCollectionUrls, type Site } from "./urls.ts";
import { collectionRef } from "./wire.ts";

type CollectionQuery = { chainId: ChainId; collection?: string | undefined };

/**
 * Contracts that a query selects: null is every contract. A slug means all contracts of the collection, an address that
 * contract: what is for one contract of a family cannot be used for another.
 */
export async function contractsOfQuery(
  db: Database,
  { chainId, collection }: CollectionQuery,
): Promise<number[] | null | Rejection<"not_found">> {
  if (collection === undefined) return null;
  const found = await referTo(db, chainId, collection);
  return found === null
    ? rejectUnknownCollection(chainId, collection)
    : contractsOfReference(found);
}

/** What the name of a collection stands for everywhere but on its profile. */
export const contractsOfReference = ({ contractId, contractIds }: CollectionRef): number[] =>
  contractId === null ? contractIds : [contractId];

/**
 * What cannot be a slug or an address is unknown without asking the database. What was found in another snapshot of the
 * same data is not looked up again.
 */
export async function referTo(
  db: Database,
  chainId: ChainId,
  key: string,
): Promise<CollectionRef | null> {
  if (!/^[\w.-]{1,200}$/.test(key)) return null;
  const known = versionCache(db);
  const name = `collection ${chainId} ${key.toLowerCase()}`;
  const collection = known.get<CollectionRef>(name) ?? (await findCollection(db, chainId, key));
  if (collection !== null) known.set(name, collection);
  return collection;
}

export function rejectUnknownCollection(chainId: ChainId, key: string | undefined) {
  return reject("not_found", `No collection ${key?.slice(0, 200)} on chain ${chainId}`);
}

/** Of a contract of which nothing but sales is known, with where these are. */
export function rejectUncoveredCollection(chainId: ChainId, { address }: CollectionRef) {
  const sales = `/v1/sales?chainId=${chainId}&collection=${address}`;
  return reject("not_found", `Contract ${address} is not covered: only its sales are, ${sales}`);
}

/** Which collection an answer is about, where it is no row of the answer itself. */
export const LinkedCollection = collectionRef
  .extend({ urls: collectionUrls })
  .meta({ id: "LinkedCollection" });

export function presentLinkedCollection(
  { address, slug, name }: Pick<CollectionRef, "address" | "slug" | "name">,
  site: Site,
): z.output<typeof LinkedCollection> {
  return { address, slug, name, urls: presentCollectionUrls(site, slug ?? address) };
}
