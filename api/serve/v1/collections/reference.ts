import type { ChainId } from "../../../../abis/deployments.ts";
import type { Database } from "../../../../projections/database.ts";
import { reject } from "../../../../projections/domain/rejection.ts";
import {
  type CollectionRef,
  findCollection,
} from "../../../../projections/reads/collections/find-collection.ts";
import { versionCache } from "../../http/reads/version-cache.ts";

type CollectionQuery = {
  chainId: ChainId;
  collection?: string | undefined;
  token_id?: bigint | undefined;
};

/**
 * Contracts that a query selects: null is every contract, undefined an unknown collection.
 * An address with a token id means that contract's token; otherwise all contracts of the collection are selected.
 */
export async function salesContracts(
  db: Database,
  { chainId, collection, token_id }: CollectionQuery,
): Promise<number[] | null | undefined> {
  if (collection === undefined) return null;
  const found = await referTo(db, chainId, collection);
  if (found === null) return undefined;
  if (token_id !== undefined && found.contractId !== null) return [found.contractId];
  return found.contractIds;
}

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

export function noCollection(chainId: ChainId, key: string | undefined) {
  return reject("not_found", `No collection ${key?.slice(0, 200)} on chain ${chainId}`);
}
