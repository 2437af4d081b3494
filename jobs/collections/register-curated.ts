import {
  type CuratedCollection,
  collectionRegistered,
  registryIdentity,
} from "#projections/collections/facts.ts";
import { readCuratedEntries } from "#projections/collections/read-registry.ts";
import { appendObservations } from "#projections/log/append.ts";
import type { Database } from "#projections/log/database.ts";

/**
 * Appends a `collection_registered` fact for each entry of the curated file that differs from the file's last entry for
 * that collection. An operator's later registration is kept until the file changes.
 */
export async function registerCuratedCollections(
  db: Database,
  collections: readonly CuratedCollection[],
  recordedAt: Date,
): Promise<number> {
  const known = new Map(
    (await readCuratedEntries(db)).map((entry) => [`${entry.chainId} ${entry.primary}`, entry]),
  );
  const changed = collections.flatMap((collection) => {
    const { chainId, primary } = collection;
    const payload = payloadOf(collection);
    const last = known.get(`${chainId} ${primary}`);
    if (
      last !== undefined &&
      registryIdentity(chainId, last.payload, 0n) === registryIdentity(chainId, payload, 0n)
    )
      return [];
    const replaces = last?.position ?? 0n;
    return [collectionRegistered({ chainId, primary, payload, replaces, recordedAt })];
  });
  if (changed.length === 0) return 0;
  return Number((await appendObservations(db, changed)).appended);
}

function payloadOf({ slug, name, verified, primary, contracts, royalty }: CuratedCollection) {
  return {
    contracts: [...new Set([primary, ...contracts])].sort(),
    name,
    primary,
    // In PostgreSQL's jsonb key order, shorter names first: entries are compared as text.
    ...(royalty && { royalty: { bps: royalty.bps, recipient: royalty.recipient } }),
    slug,
    source: "curated",
    verified,
  };
}
